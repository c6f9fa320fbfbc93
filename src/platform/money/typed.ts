// Amounts and days as people and spreadsheets write them.

/** What was read: the value, or a sentence that says why it cannot be understood and what to write. */
export type Typed = { readonly value: string } | { readonly problem: string }

/** Spaces, also those that spreadsheets put between thousands, and the apostrophe of Switzerland. */
const GROUP_SPACES = /[\s\u00a0\u2009\u202f'’]/g

/** Thousands in groups, and a decimal mark that is another one. */
const GROUPED = /^(-?[1-9]\d{0,2}(?:([.,])\d{3})(?:\2\d{3})*)(?:(?!\2)[.,](\d+))?$/

/**
 * Reads an amount such as `1,234.50`, `1.234,50`, `1 234,5` or `12,5` as a decimal with a point. A single
 * mark before three digits, as in `1,234`, may be either: it is a decimal point only where the currency has
 * three decimal places and the mark is a point, as in the files of the service. `expected` is what a text is not
 * that cannot be understood, and how to write it.
 */
export function readAmount(
  text: string,
  digits: number,
  expected = 'an amount. Write it as 1234.50',
): Typed {
  const plain = text.trim().replace(GROUP_SPACES, '').replace(/^[−–]/, '-')
  const simple = /^(-?\d+)(?:([.,])(\d+))?$/.exec(plain)
  const grouped = GROUPED.exec(plain)
  const [, whole, mark = '', fraction] = simple ?? grouped ?? []
  if (!whole) return { problem: `“${text.trim()}” is not ${expected}.` }
  if (simple && grouped && !(mark === '.' && digits >= 3)) {
    const thousands = `${whole}${fraction}`
    return {
      problem: `“${text.trim()}” can be ${thousands} or ${whole}.${fraction}. Write ${thousands}.00 for the former.`,
    }
  }
  const units = simple ? whole : whole.replaceAll(mark, '')
  return { value: fraction ? `${units}.${fraction}` : units }
}

/** Reads a day such as `2026-10-05` or `5.10.2026` as `YYYY-MM-DD`. */
export function readDay(text: string): Typed {
  const value = text
    .trim()
    .replace(
      /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/,
      (_, day: string, month: string, year: string) =>
        `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`,
    )
  const at = new Date(`${value}T00:00:00Z`)
  const exists = !Number.isNaN(at.getTime()) && at.toISOString().startsWith(value)
  return exists && value.length === 10
    ? { value }
    : { problem: `“${text.trim()}” is not a day. Write it as 2026-10-25.` }
}
