//go:build !race

package views

const slowdown = 1
