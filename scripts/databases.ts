import { Argument, Option } from 'commander'
import { JURISDICTIONS } from '../src/accounts/fields.ts'
import { exitWithUsageError, parseCommand, wholeNumber } from './command-line.ts'
import { type Adding, addDatabases, LOCATIONS } from './databases/add.ts'
import { endingWith } from './wrangler.ts'

// Exit code 1: a step of wrangler failed; the last line says whether to repeat the command.

const command = parseCommand(
  'npm run databases',
  'Adds D1 databases, and for the first of a jurisdiction its R2 bucket: creates them, writes their\nbindings into wrangler.toml and package.json, migrates them and prints what to deploy.',
  (own) =>
    own
      .addArgument(new Argument('<action>').choices(['add']))
      .addArgument(new Argument('<count>', 'how many').argParser(wholeNumber(1, 20)))
      .addOption(
        new Option('--jurisdiction <name>', 'the law under which the data stays, for ever').choices(
          JURISDICTIONS,
        ),
      )
      .addOption(
        new Option('--location <region>', 'otherwise: where the databases are, for ever')
          .choices(LOCATIONS)
          .conflicts('jurisdiction'),
      )
      .option('--dry-run', 'prints what it would run, and changes nothing'),
)
const [, count] = command.processedArgs as [string, number]
const options = command.opts<Pick<Adding, 'jurisdiction' | 'location' | 'dryRun'>>()
if (!options.jurisdiction && !options.location) {
  exitWithUsageError(
    'Say where the databases are: `--location weur` or `--jurisdiction eu`. They never move.',
  )
}
endingWith(() => addDatabases('.', { count, ...options, print: console.log }))
