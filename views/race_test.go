//go:build race

package views

// slowdown is how much longer code may take under the race detector.
const slowdown = 10
