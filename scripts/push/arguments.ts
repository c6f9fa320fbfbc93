import { Command, Option } from 'commander'
import { examplesText, parseChoice, parseCommandLine, wholeNumber } from '../command-line.ts'
import { usageError } from '../exit-error.ts'
import type { Renames } from './record.ts'
import { type Target, VERTICALS, type Vertical } from './verticals.ts'

/** The arguments for sending files. */
export interface SendArguments {
  readonly vertical: Vertical
  readonly target: Target
  readonly files: readonly string[]
  readonly map?: Renames
  readonly lenient?: boolean
  readonly dryRun?: boolean
  /** Whether to go on after every record of a bulk was refused. */
  readonly keepGoing?: boolean
  /** Whether several records of a file may have one id. */
  readonly allowRepeats?: boolean
  /** Whether to compare the files with the control totals instead of sending them. */
  readonly reconcile?: boolean
  /** How many requests may be in flight at once. */
  readonly inFlight: number
  /** For how many seconds a failing request is repeated. */
  readonly retryFor: number
}

const names = (list: readonly { name: string }[]) => list.map(({ name }) => name)

const DESCRIPTION = `Sends the records of files to Tributary, in bulks of 1000.

A file of any size is a JSON array, the saved response of a list ({"data": […]}), NDJSON or CSV. The
first row of a CSV file has the names of the fields; columns are separated by commas, semicolons or
tabs; an empty cell is a missing field; numbers have the form -1000.50.

Rejected records are written to FILE.rejected.ndjson with their lines and errors: correct the
records in it, and send that file. Sending a file again is safe: stored records are answered
"unchanged". If records of one file have the same id, the last one counts; the lines are named, and
the exit code is 1 unless --allow-repeats is given.

With --reconcile nothing is sent: the files are compared with the control totals of their days, and
each group that differs is listed with both counts and sums.`

const DETAILS = `
Resources:
${VERTICALS.map(({ name, resources }) => `  ${name.padEnd(13)} ${names(resources).join(', ')}`).join('\n')}

Environment (comes before the .demo.json of \`npm run dev\`):
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
${examplesText([
  'npm run push -- --vertical forex --resource customers customers.csv',
  "npm run push -- --vertical forex --resource transactions --map 'Deal ID=transaction_id' deals.csv",
])}`

const createProgram = () =>
  new Command('npm run push --')
    .description(DESCRIPTION)
    .argument('<files...>', 'the files to send')
    .addOption(
      new Option('--vertical <name>', 'The vertical of the account.')
        .choices(names(VERTICALS))
        .makeOptionMandatory(),
    )
    .requiredOption('--resource <name>', 'The resource of the records, see below.')
    .option('--map <theirs=ours>', 'Renames a column. Repeatable.', addRename)
    .option('--lenient', 'Stores the valid records of a bulk that has invalid ones.')
    .option('--dry-run', 'Validates only: nothing is stored.')
    .option('--keep-going', 'Goes on after every record of a bulk was refused.')
    .option('--allow-repeats', 'Accepts that records of a file have one id.')
    .option('--reconcile', 'Sends nothing: compares the files with the control totals.')
    .option('--in-flight <n>', 'Requests in flight at once.', wholeNumber(1, 1000), 4)
    .option('--retry-for <seconds>', 'How long failures are retried.', wholeNumber(0, 1e6), 150)
    .addHelpText('after', DETAILS)

/** Reads the command line. Throws ExitError with exit code 2 if it is wrong. */
export function readArguments(args: readonly string[]): SendArguments | { help: string } {
  const program = createProgram()
  let files: string[] = []
  program.action((words: string[]) => {
    files = words
  })
  const help = parseCommandLine(program, args)
  if (help !== null) return { help }
  const options = program.opts()
  const vertical = VERTICALS.find(({ name }) => name === options.vertical)!
  const resource = parseChoice('--resource', names(vertical.resources), options.resource)
  const target = vertical.resources.find(({ name }) => name === resource)!
  return { ...(options as Omit<SendArguments, 'vertical'>), vertical, target, files }
}

/** Adds a `theirs=ours` to the renames so far; the first `=` separates the two. */
function addRename(pair: string, renames: Renames = new Map()): Renames {
  const [, theirs, ours] = /^([^=]+)=(.+)$/s.exec(pair) ?? []
  if (theirs === undefined || ours === undefined) {
    throw usageError(`Invalid --map \`${pair}\`. Use theirs=ours.`)
  }
  return new Map([...renames, [theirs, ours]])
}
