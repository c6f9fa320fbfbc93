/** Mutants of one place that no test can tell from the source, and why. */
export interface Equivalent {
  file: string
  was: string
  is: readonly string[]
  why: string
}

const RATE = 'src/auth/rate.ts'
const FIELDS = 'src/fields.ts'

/** They are not counted. */
export const EQUIVALENTS: readonly Equivalent[] = [
  {
    file: RATE,
    was: 'const recent = times[0]! > now - WINDOW_MS ? times : times.filter((t) => t > now - WINDOW_MS)',
    is: [
      'const recent = false ? times : times.filter((t) => t > now - WINDOW_MS)',
      'const recent = times[0]! > now + WINDOW_MS ? times : times.filter((t) => t > now - WINDOW_MS)',
    ],
    why: 'Where the oldest still counts all do: the filter says the same, and takes longer.',
  },
  {
    file: FIELDS,
    was: 'text.length > 0 && (text.length <= max || (text.length <= 2 * max && [...text].length <= max))',
    is: [
      'text.length > 0 && (false || (text.length <= 2 * max && [...text].length <= max))',
      'text.length > 0 && (text.length < max || (text.length <= 2 * max && [...text].length <= max))',
      'text.length > 0 && (text.length <= max || (true && [...text].length <= max))',
    ],
    why: 'Code units bound code points: to count only those says the same, and takes longer.',
  },
  {
    file: FIELDS,
    was: "if (text.length === 24 && text[10] === 'T' && text.endsWith('Z')) return text",
    is: [
      'if (false) return text',
      'if (text.length === 24 && text[10] === "" && text.endsWith(\'Z\')) return text',
      "if (text.length === 24 && text[10] === 'T' && text.startsWith('Z')) return text",
    ],
    why: 'What is kept as it is would be put together as it was.',
  },
  {
    file: FIELDS,
    was: 'if (size < 1e13 && isInHundredths(size)) return true',
    is: [
      'if (false) return true',
      'if (true && isInHundredths(size)) return true',
      'if (size <= 1e13 && isInHundredths(size)) return true',
      'if (size >= 1e13 && isInHundredths(size)) return true',
    ],
    why: 'The way round for most amounts; the long way says the same of what has 15 digits.',
  },
  {
    file: FIELDS,
    was: "const [mantissa, exponent = '0'] = String(size).split('e') as [string, string?]",
    is: ['const [mantissa, exponent = ""] = String(size).split(\'e\') as [string, string?]'],
    why: 'An empty text is the number 0, too.',
  },
  {
    file: FIELDS,
    was: "const digits = (whole + fraction).replace(/^0+|0+$/g, '')",
    is: [
      "const digits = (whole + fraction).replace(/0+|0+$/g, '')",
      "const digits = (whole + fraction).replace(/^0|0+$/g, '')",
      "const digits = (whole + fraction).replace(/^0+|0+/g, '')",
      "const digits = (whole + fraction).replace(/^0+|0$/g, '')",
    ],
    why: 'What was written with more than 15 digits arrives as NaN, so these are never too many.',
  },
  {
    file: FIELDS,
    was: 'return digits.length <= 15 && fraction.length - Number(exponent) <= FINEST',
    is: ['return true && fraction.length - Number(exponent) <= FINEST'],
    why: 'What was written with more than 15 digits arrives as NaN, so these are never too many.',
  },
  {
    file: 'src/db/deliver.ts',
    was: 'const created = new Set(later.length > 0 ? rows.filter(isCreated).map(keyOf) : [])',
    is: [
      'const created = new Set(true ? rows.filter(isCreated).map(keyOf) : [])',
      'const created = new Set(later.length >= 0 ? rows.filter(isCreated).map(keyOf) : [])',
      'const created = new Set(later.length > 0 ? rows.filter(isCreated).map(keyOf) : ["Stryker was here"])',
    ],
    why: 'Where nothing comes again, nobody asks what was created.',
  },
]
