/** The contract: a number has at most so many significant digits. Any double keeps them. */
export const MAX_SIGNIFICANT_DIGITS = 15

/** Returns the number of significant digits of a text of digits. Zeros at either end do not count. */
export function countSignificantDigits(digits: string): number {
  // No regular expression: it would take quadratic time.
  let start = 0
  let end = digits.length
  while (digits[start] === '0') start += 1
  while (end > start && digits[end - 1] === '0') end -= 1
  return end - start
}
