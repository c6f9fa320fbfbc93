/** Mutants of one place that no test can tell from the source, and why. */
export interface Equivalent {
  file: string
  was: string
  is: readonly string[]
  why: string
}

const RATE = 'src/auth/rate.ts'
const GATE = 'src/auth/token-gate.ts'
const FIELDS = 'src/validation/fields.ts'
const JUDGE = 'src/ingest/validate-records.ts'
const LOG = 'src/db/records/classify-sql.ts'
const STATEMENTS = 'src/db/records/upsert-sql.ts'

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
    was: '/^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{3})?Z$/',
    is: [
      '/^\\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{3})?Z$/',
      '/^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{3})Z$/',
    ],
    why: 'The short way for most times; the long way says the same.',
  },
  {
    file: FIELDS,
    was: `if (PLAIN.test(text)) return text.length === 24 ? text : \`\${text.slice(0, -1)}.000Z\``,
    is: [`if (false) return text.length === 24 ? text : \`\${text.slice(0, -1)}.000Z\``],
    why: 'The short way for most times; the long way says the same.',
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
    file: 'src/db/records/store-delivery.ts',
    was: 'const created = new Set(later.length > 0 ? rows.filter(isCreated).map(keyOf) : [])',
    is: [
      'const created = new Set(true ? rows.filter(isCreated).map(keyOf) : [])',
      'const created = new Set(later.length >= 0 ? rows.filter(isCreated).map(keyOf) : [])',
      'const created = new Set(later.length > 0 ? rows.filter(isCreated).map(keyOf) : ["Stryker was here"])',
    ],
    why: 'Where nothing comes again, nobody asks what was created.',
  },
  {
    file: 'src/db/records/store-delivery.ts',
    was: 'for (const row of later.filter(isCreated)) {',
    is: ['for (const row of later) {'],
    why: 'What comes again under a key that is created is created there, too, or rejected.',
  },
  {
    file: 'src/brand/decimal.ts',
    was: 'return { issue, number: number + 0 }',
    is: ['return { issue, number: number - 0 }'],
    why: 'JSON and SQLite write both zeros alike.',
  },
  {
    file: JUDGE,
    was: 'const said = names.filter((name) => name !== null)',
    is: ['const said = names', 'const said = names.filter((name) => true)'],
    why: 'Nothing comes in order beside what has no name: then the map says the same.',
  },
  {
    file: JUDGE,
    was: 'if (said.every((name, i) => i === 0 || name > said[i - 1]!)) return () => false',
    is: [
      'if (false) return () => false',
      'if (said.every(() => undefined)) return () => false',
      'if (said.every((name, i) => false)) return () => false',
      'if (said.every((name, i) => i === 0 && name > said[i - 1]!)) return () => false',
      'if (said.every((name, i) => false || name > said[i - 1]!)) return () => false',
      'if (said.every((name, i) => i !== 0 || name > said[i - 1]!)) return () => false',
      'if (said.every((name, i) => i === 0 || false)) return () => false',
      'if (said.every((name, i) => i === 0 || name > said[i + 1]!)) return () => false',
      'if (said.every((name, i) => i === 0 || name > said[i - 1]!)) return () => undefined',
    ],
    why: 'The short way for what comes in order: the map says the same.',
  },
  {
    file: GATE,
    was: 'if (told.retryAfter === 0) this.#closeLater()',
    is: ['if (true) this.#closeLater()'],
    why: 'What was refused changed nothing: a lease is closed as it would have been.',
  },
  {
    file: GATE,
    was: 'if (this.#closing) return',
    is: ['if (false) return'],
    why: 'Of several timers one closes the lease, and the others find it closed.',
  },
  {
    file: GATE,
    was: 'this.#closing = true',
    is: ['this.#closing = false'],
    why: 'Of several timers one closes the lease, and the others find it closed.',
  },
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: source that puts texts together
  {
    file: LOG,
    was: ') where bytes < ${LOGGED_BYTES}',
    is: [') where bytes <= ${LOGGED_BYTES}'],
    why: 'An error takes more bytes than what it names, and all are cut to as many when they are told.',
  },
  {
    file: LOG,
    was: 'from judged where unknown order by idx limit ${LOGGED}',
    is: ['from judged where unknown order by idx limit 1 + ${LOGGED}'],
    why: 'They are cut to as many when they are told.',
  },
  {
    file: STATEMENTS,
    was: 'where t.delivery = ?2 and ?3 > 1`,',
    is: ['where t.delivery = ?2 and ?3 >= 1`,'],
    why: 'At our first try nothing is stored of the delivery.',
  },
  {
    file: STATEMENTS,
    was: 'from ${EACH}(?4) cross join ${table} t on ${matches(inShort)}',
    is: ['from ${EACH}(?4) cross join ${table} t on true or ${matches(inShort)}'],
    why: 'What has the delivery is found by walking the table, too, only later.',
  },
  {
    file: STATEMENTS,
    was: 'where changes() > 0 and account = ?1 and id = ?2 and attempt = ?3`,',
    is: ['where changes() >= 0 and account = ?1 and id = ?2 and attempt = ?3`,'],
    why: 'None is added, then.',
  },
  {
    file: STATEMENTS,
    was: 'where (select created from ${OWN_LINE} and refused = 0) > 0',
    is: ['where (select created from ${OWN_LINE} and refused = 0) >= 0'],
    why: 'Nothing waits for a customer who was there before.',
  },
  {
    file: STATEMENTS,
    was: "select ?1, '${resource}', changes() where changes() > 0",
    is: [
      "select ?1, '${resource}', changes() where changes() >= 0",
      "select ?1, '${resource}', changes() where true or changes() > 0",
    ],
    why: 'None is added, then.',
  },
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: source that puts texts together
]
