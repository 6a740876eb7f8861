// Package nearest finds what was probably meant by a word that nothing is called.
package nearest

// To is the one of words that needs the fewest changes to become word; of equal ones the first.
// "" where there are none.
func To(word string, words []string) (best string) {
	least := -1
	for _, w := range words {
		if n := Distance(word, w); least < 0 || n < least {
			least, best = n, w
		}
	}
	return best
}

// Distance is the number of bytes to insert, delete or replace to get from a to b (Levenshtein).
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
