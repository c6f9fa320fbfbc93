import { Command, Option } from 'commander'
import {
  examplesText,
  orList,
  parseChoice,
  parseCommandLine,
  wholeNumber,
} from '../command-line.ts'
import { usageError } from '../exit-error.ts'
import { FORMATS, type Format, type Renames } from './reader.ts'
import type { Target, Vertical } from './vertical.ts'
import { VERTICALS } from './verticals.ts'

/** The arguments for sending files. */
export interface SendArguments {
  vertical: Vertical
  dryRun: boolean
  json: boolean
  /** For how many seconds a failing request is repeated. */
  retryFor: number
  /** The file with address and credentials; null: `.demo.json` or the environment. */
  profile: string | null
  /** The account of the profile; null: the only one of the vertical. */
  account: string | null
  target: Target
  files: string[]
  /** The format of all files; null: detected for each file. */
  format: Format | null
  renames: Renames
  lenient: boolean
  /** Whether to go on after every record of a bulk was refused for the same reason. */
  keepGoing: boolean
  /** Whether several records of a file may have one id. */
  allowRepeats: boolean
  /** Whether to compare the files with the control totals instead of sending them. */
  reconcile: boolean
  /** How many requests may be in flight at once. */
  inFlight: number
}

/** What the command line asks for. */
export type PushArguments = SendArguments | { help: string }

const names = (list: readonly { name: string }[]) => list.map(({ name }) => name)

const DESCRIPTION = `Sends the records of files to Tributary, in bulks of 1000.

A file of any size is a JSON array, the saved response of a list ({"data": […]}), NDJSON or CSV. The
first row of a CSV file has the names of the fields; columns are separated by commas, semicolons or
tabs; an empty cell is a missing field; numbers have the form -1000.50.
A row without values is skipped, and a first line such as \`sep=;\` states the separator.
Rejected records are written to FILE.rejected.ndjson with their lines and errors: correct the records
in it, and send that file. Sending a file again is safe: stored records are answered "unchanged".
If records of one file have the same id, the last one counts; the lines are named, and the exit code is
1 unless --allow-repeats is given.
With --reconcile nothing is sent: the files are compared with the control totals of their days, and
each group that differs is listed with both counts and sums.`

const DETAILS = `
Resources:
${VERTICALS.map(({ name, resources }) => `  ${name.padEnd(13)} ${names(resources).join(', ')}`).join('\n')}

Environment (comes before the profile):
  TRIBUTARY_BASE_URL, TRIBUTARY_CLIENT_ID, TRIBUTARY_CLIENT_SECRET
  TRIBUTARY_BASE_URL, TRIBUTARY_BRAND_TOKEN for igaming

Files for igaming:
  Columns may have any name, and every cell is sent as text. The Idempotency-Key of a bulk of
  activities is the SHA-256 digest of its records and its place in the file, so sending the same
  file again counts nothing twice. If events have neither eventid nor day, do not edit the file:
  send new or corrected events in a file of their own. Records that are "held" are counted when
  their customer is sent.

Exit codes:
  0    all records were accepted
  1    records were rejected or not sent, ids repeat within a file, or files differ from the control
       totals
  2    an argument is wrong or a file cannot be read
  130  interrupted by Ctrl-C
${examplesText([
  'npm run push -- --vertical forex --resource customers customers.csv',
  "npm run push -- --vertical forex --resource transactions --map 'Deal ID=transaction_id' deals.csv",
])}`

/** The options as commander returns them. */
interface Options {
  vertical?: string
  resource?: string
  format?: Format
  map?: Renames
  lenient?: true
  dryRun?: true
  keepGoing?: true
  allowRepeats?: true
  reconcile?: true
  profile?: string
  account?: string
  inFlight: number
  retryFor: number
  json?: true
}

const choice = (flags: string, description: string, choices: readonly string[]) =>
  new Option(flags, description).choices(choices)

const createProgram = () =>
  new Command('npm run push --')
    .description(DESCRIPTION)
    .argument('[files...]', 'the files to send')
    .addOption(choice('--vertical <name>', 'The vertical of the account.', names(VERTICALS)))
    .option('--resource <name>', 'The resource of the records, see below.')
    .addOption(choice('--format <name>', 'The format, if not detected.', FORMATS))
    .addOption(
      new Option('--map <theirs=ours>', 'Renames a column or member. Repeatable.').argParser(
        addRename,
      ),
    )
    .option('--lenient', 'Stores the valid records of a bulk that has invalid ones.')
    .option('--dry-run', 'Validates only: same response, nothing stored.')
    .option('--keep-going', 'Goes on after every record of a bulk had the same error.')
    .option('--allow-repeats', 'Accepts that records of a file have the id of an earlier one.')
    .option(
      '--reconcile',
      'Sends nothing: compares the files with the control totals of their days.',
    )
    .option('--profile <file>', 'Address and accounts. (default: .demo.json of `npm run dev`)')
    .option('--account <name>', 'The account, if the profile has several of the vertical.')
    .option('--in-flight <n>', 'Requests in flight at once.', wholeNumber(1, 1000), 4)
    .option('--retry-for <seconds>', 'How long failures are retried.', wholeNumber(0, 1e6), 150)
    .option('--json', 'Prints the summary as one JSON object. Use with `npm run -s`.')
    .addHelpText('after', DETAILS)

/** Reads the command line. Throws ExitError with exit code 2 if it is wrong. */
export function readArguments(args: readonly string[]): PushArguments {
  const program = createProgram()
  let files: string[] = []
  program.action((words: string[]) => {
    files = words
  })
  const help = parseCommandLine(program, args)
  if (help !== null) return { help }

  const options = program.opts<Options>()
  const vertical = find(VERTICALS, '--vertical', options.vertical)
  const target = find(vertical.resources, '--resource', options.resource)
  if (files.length === 0) throw usageError('Missing file. Add at least one file to send.')
  return {
    vertical,
    target,
    files,
    format: options.format ?? null,
    renames: options.map ?? new Map(),
    lenient: options.lenient ?? false,
    keepGoing: options.keepGoing ?? false,
    allowRepeats: options.allowRepeats ?? false,
    reconcile: options.reconcile ?? false,
    inFlight: options.inFlight,
    dryRun: options.dryRun ?? false,
    json: options.json ?? false,
    retryFor: options.retryFor,
    profile: options.profile ?? null,
    account: options.account ?? null,
  }
}

function find<T extends { name: string }>(list: readonly T[], option: string, value?: string): T {
  if (value === undefined) throw usageError(`Missing ${option}. Use ${orList(names(list))}.`)
  const name = parseChoice(option, names(list), value)
  return list.find((one) => one.name === name)!
}

/** Adds a `theirs=ours` to the renames so far; the first `=` separates the two. */
function addRename(pair: string, renames: Renames = new Map()): Renames {
  const [, theirs, ours] = /^([^=]+)=(.+)$/s.exec(pair) ?? []
  if (theirs === undefined || ours === undefined) {
    throw usageError(`Invalid --map \`${pair}\`. Use theirs=ours.`)
  }
  if (renames.has(theirs)) throw usageError(`--map renames \`${theirs}\` twice.`)
  return new Map([...renames, [theirs, ours]])
}
