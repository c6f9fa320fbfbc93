import { exitWithUsageError, parseCommand } from './command-line.ts'

const { args } = parseCommand(
  'node scripts/sql.ts',
  'Prints the statements that write and read records, as D1 runs them, with their query plans.',
  (command) =>
    command.argument('[name]', 'a part of the name of a group, such as transactions-hold'),
)
// Loaded after `--help` has been answered.
const { describedSql } = await import('./sql/files.ts')
const [part = ''] = args
const texts = [...describedSql()].filter(([name]) => name.includes(part)).map(([, text]) => text)
if (texts.length === 0) exitWithUsageError(`No group of statements has \`${part}\` in its name.`)
process.stdout.write(texts.join('\n'))
