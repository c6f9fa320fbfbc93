// Amounts and days as people and spreadsheets write them.

/** What was read: the value, or a sentence that says why it cannot be understood and what to write. */
export type Typed = { readonly value: string } | { readonly problem: string }

/** Spaces, also those that spreadsheets put between thousands, and the apostrophe of Switzerland. */
const GROUP_SPACES = /[\s\u00a0\u2009\u202f'’]/g

const groupsOf = (mark: string) => new RegExp(`^-?[1-9]\\d{0,2}(?:\\${mark}\\d{3})+$`)

const GROUPED: Readonly<Record<string, RegExp>> = { ',': groupsOf(','), '.': groupsOf('.') }

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
  const plain = text.trim().replace(GROUP_SPACES, '').replace(/^[−–]/, '-').replace(/^\+/, '')
  const unclear = { problem: `“${text.trim()}” is not ${expected}.` }
  if (!/^-?[\d.,]*\d$/.test(plain)) return unclear
  const marks = plain.replace(/[^.,]/g, '')
  const mark = marks.at(-1)
  if (mark === undefined) return { value: plain }
  const isMixed = marks.includes(',') && marks.includes('.')
  if (!isMixed && marks.length > 1) {
    return GROUPED[mark]?.test(plain) ? { value: plain.replaceAll(mark, '') } : unclear
  }
  const at = plain.lastIndexOf(mark)
  const [whole, fraction] = [plain.slice(0, at), plain.slice(at + 1)]
  if (isMixed) {
    const other = mark === ',' ? '.' : ','
    const isGrouped = GROUPED[other]?.test(whole)
    return isGrouped ? { value: `${whole.replaceAll(other, '')}.${fraction}` } : unclear
  }
  const isEither = fraction.length === 3 && GROUPED[mark]?.test(plain)
  if (isEither && !(mark === '.' && digits >= 3)) {
    const thousands = `${whole}${fraction}.${'0'.repeat(Math.max(digits, 1))}`
    return {
      problem: `“${text.trim()}” can be ${whole}${fraction} or ${whole}.${fraction}. Write ${thousands} for the former.`,
    }
  }
  return { value: `${whole === '' || whole === '-' ? `${whole}0` : whole}.${fraction}` }
}

const dayOf = (year: string, month: string, day: string): string =>
  `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`

/** Returns whether a day exists in the calendar. */
function exists(day: string): boolean {
  const at = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day)
}

/**
 * Reads a day such as `2026-10-05`, `2026/10/05`, `5.10.2026` or `25/10/2026` as `YYYY-MM-DD`. With slashes,
 * a day and a month that are both at most 12 may be in either order, unless they are equal.
 */
export function readDay(text: string): Typed {
  const plain = text.trim()
  const unclear = { problem: `“${plain}” is not a day. Write it as 2026-10-25.` }
  const ordered = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(plain)
  const [, first = '', mark, second = '', year = ''] =
    /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})$/.exec(plain) ?? []
  let day = ''
  if (ordered) day = dayOf(ordered[1] ?? '', ordered[2] ?? '', ordered[3] ?? '')
  else if (mark === '.' || Number(first) > 12 || first === second) day = dayOf(year, second, first)
  else if (Number(second) > 12) day = dayOf(year, first, second)
  else if (mark) {
    const [either, or] = [dayOf(year, second, first), dayOf(year, first, second)]
    return { problem: `“${plain}” can be ${either} or ${or}. Write one of them.` }
  }
  return exists(day) ? { value: day } : unclear
}
