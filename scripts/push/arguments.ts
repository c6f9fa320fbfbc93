import { parseArgs } from 'node:util'
import { misuse } from './halt.ts'
import { FORMATS, type Format } from './read.ts'
import { type Target, VERTICALS, type Vertical } from './verticals.ts'

/** What the command was asked to do. */
export interface Arguments {
  vertical: Vertical
  target: Target
  files: string[]
  /** How the files are written; null: each tells. */
  format: Format | null
  lenient: boolean
  dryRun: boolean
  json: boolean
  /** How many requests may be under way at once. */
  inFlight: number
  /** For how many seconds a failing request is repeated. */
  retryFor: number
  /** Where address and credentials are; null: `.demo.json`, or the environment. */
  profile: string | null
  /** Which account of the profile; null: the only one of the vertical. */
  account: string | null
}

/** What it was asked to do instead: to show a vertical's first lesson. */
export interface SampleArguments
  extends Pick<Arguments, 'vertical' | 'dryRun' | 'json' | 'retryFor' | 'profile' | 'account'> {
  sample: true
}

const names = (list: readonly { name: string }[]) => list.map(({ name }) => name).join(', ')

const resources = VERTICALS.map(({ name, resources }) => `of ${name}: ${names(resources)}`)

/** What `--help` prints. */
export const USAGE = `Sends the records of files to Tributary, in bulks of 1000.

  npm run push -- --vertical forex --resource transactions FILE…
  npm run push -- --sample forex

A file is a JSON array, NDJSON or CSV (the header has the names of the fields; an empty cell is a
field left out), of any size. What was refused is in FILE.rejected.ndjson afterwards, with the
reasons. Sending a file again does no harm: what is stored already is answered "unchanged".

  --vertical NAME      ${names(VERTICALS)}
  --resource NAME      ${resources.join(`\n${' '.repeat(23)}`)}
  --format NAME        ${FORMATS.join(', ')}; otherwise the file's ending says it, or its first byte
  --lenient            store the good records of a bulk although others of it are wrong
  --dry-run            judge everything, store nothing
  --sample VERTICAL    a first lesson instead of files: sends each mistake once, explains each answer
  --profile FILE       base_url and accounts; default .demo.json, which \`npm run dev\` writes
  --account NAME       which account of the profile, where the vertical has several
  --in-flight N        requests at once, default 4
  --retry-for SECONDS  how long to repeat what fails and may be repeated, default 150
  --json               the summary as one JSON object (with \`npm run -s\`, nothing else is on stdout)
  --help

The environment comes before the profile: TRIBUTARY_BASE_URL, TRIBUTARY_CLIENT_ID,
TRIBUTARY_CLIENT_SECRET; of igaming TRIBUTARY_BASE_URL, TRIBUTARY_BRAND_TOKEN.

Of igaming: a column may have any name, and every cell is sent as text. A bulk of activities has an
Idempotency-Key made of them (SHA-256) and of their place in the file: the same file, or a copy of
it, counts nothing twice, not even events with neither eventid nor day. Do not change a file of such
events: send what is new, or mended, in a file of its own. What is "held" waits for its customer,
and is counted once the customer was sent.

The lesson is a dry run, but for what a later answer needs: a customer, of igaming an activity, too,
and that only in an account of mode test. In a live one, and with --dry-run, nothing is stored.

Exit code: 0 all is well, 1 something was rejected or not sent (of a lesson: an answer was not the
one that it expects), 2 wrong arguments or a file that cannot be read, 130 Ctrl-C.`

const OPTIONS = {
  sample: { type: 'string' },
  vertical: { type: 'string' },
  resource: { type: 'string' },
  format: { type: 'string' },
  lenient: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  profile: { type: 'string' },
  account: { type: 'string' },
  'in-flight': { type: 'string', default: '4' },
  'retry-for': { type: 'string', default: '150' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

/** Reads the command line; null: only help is wanted. */
export function readArguments(args: string[]): Arguments | SampleArguments | null {
  const { values, positionals } = parsed(args)
  if (values.help) return null

  const common = {
    dryRun: values['dry-run'],
    json: values.json,
    retryFor: wholeNumber('retry-for', values['retry-for'], 0),
    profile: values.profile ?? null,
    account: values.account ?? null,
  }
  if (values.sample !== undefined) {
    if (positionals.length > 0 || values.vertical || values.resource || values.format) {
      throw misuse('--sample sends records of its own: name no file, vertical, resource or format.')
    }
    return { sample: true, vertical: oneOf(VERTICALS, 'vertical', values.sample), ...common }
  }
  const vertical = oneOf(VERTICALS, 'vertical', values.vertical)
  const target = oneOf(vertical.resources, 'resource', values.resource)
  if (positionals.length === 0) throw misuse('Name a file to send.')
  const format = FORMATS.find((name) => name === values.format) ?? null
  if (values.format !== undefined && format === null) {
    throw misuse(`--format is one of: ${FORMATS.join(', ')}.`)
  }
  return {
    vertical,
    target,
    files: positionals,
    format,
    lenient: values.lenient,
    inFlight: wholeNumber('in-flight', values['in-flight'], 1),
    ...common,
  }
}

function parsed(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw misuse(`${(error as Error).message.split(/[\n.]/)[0]}.`, error)
  }
}

function oneOf<T extends { name: string }>(list: readonly T[], what: string, name?: string): T {
  const found = list.find((one) => one.name === name)
  if (found) return found
  const wrong = name === undefined ? `--${what} is missing` : `There is no ${what} "${name}"`
  throw misuse(`${wrong}; known are: ${names(list)}.`)
}

function wholeNumber(option: string, text: string, least: number): number {
  if (/^\d{1,6}$/.test(text) && Number(text) >= least) return Number(text)
  throw misuse(`--${option} is a whole number from ${least} on.`)
}
