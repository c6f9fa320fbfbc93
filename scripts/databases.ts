import { Argument, Option } from 'commander'
import { JURISDICTIONS } from '../src/accounts/fields.ts'
import { parseCommand, wholeNumber } from './command-line.ts'
import { type Adding, addDatabases } from './databases/add.ts'
import { ExitError } from './exit-error.ts'

// Exit code 1: a step of wrangler failed; the last line says whether to repeat the command.

const command = parseCommand(
  'npm run databases',
  'Adds D1 databases, and for the first of a jurisdiction its R2 bucket: creates them, writes their\nbindings into wrangler.toml and package.json, migrates them and prints what to deploy.',
  (own) =>
    own
      .addArgument(new Argument('<action>').choices(['add']))
      .addArgument(new Argument('<count>', 'how many').argParser(wholeNumber(1, 20)))
      .addOption(new Option('--jurisdiction <name>', 'where the data stays').choices(JURISDICTIONS))
      .option('--dry-run', 'prints the commands of wrangler, and changes nothing'),
)
const [, count] = command.processedArgs as [string, number]
const options = command.opts<Pick<Adding, 'jurisdiction' | 'dryRun'>>()
try {
  addDatabases('.', { count, ...options, print: console.log })
} catch (error) {
  if (!(error instanceof ExitError)) throw error
  console.error(error.message)
  process.exit(error.exitCode)
}
