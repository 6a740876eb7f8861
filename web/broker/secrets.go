package broker

import (
	"net/url"
	"strings"
)

// withoutSecrets takes secrets out of text that others have written, such as a broker's reply. What
// this package writes itself never holds one.
func (c *Consumer) withoutSecrets(text string) string { return masked(text, c.secrets) }

func masked(text string, secrets []string) string {
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}

// secretForms lists a password as it is and percent-encoded. A password that is also the user name,
// like guest, or of three characters or less is not worth the garbled words.
func secretForms(username string, passwords ...string) []string {
	var forms []string
	for _, p := range passwords {
		if len(p) > 3 && p != username {
			forms = append(forms, p, url.QueryEscape(p), url.PathEscape(p), url.UserPassword("", p).String()[1:])
		}
	}
	return forms
}
