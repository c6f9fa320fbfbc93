import { Command, CommanderError, InvalidArgumentError, type OptionValues } from 'commander'
import { ExitError, usageError } from './exit-error.ts'

// The command line of every script: commander, with help as a value and errors in one line.

/** Ends a program that was called incorrectly: prints the reason in one line, exit code 2. */
export function exitWithUsageError(reason: string): never {
  console.error(reason.replaceAll(/\s*\n\s*/g, ' '))
  process.exit(2)
}

/**
 * Parses the arguments of a command. Actions of the command run before this returns.
 *
 * @returns the help text if `--help` was given, otherwise null.
 * @throws ExitError of one line and exit code 2 if the arguments are wrong.
 */
export function parseCommandLine(program: Command, args: readonly string[]): string | null {
  let help = ''
  configure(program, (text) => {
    help += text
  })
  try {
    program.parse(args, { from: 'user' })
    return null
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.code === 'commander.helpDisplayed') return help.trimEnd()
    throw usageError(sentence(error), error)
  }
}

function configure(command: Command, writeOut: (text: string) => void) {
  command
    .helpOption('-h, --help', 'Shows this help.')
    .helpCommand(false)
    // The same width everywhere: help is also piped and quoted.
    .configureOutput({ writeOut, writeErr: () => {}, getOutHelpWidth: () => 100 })
    .exitOverride()
    .hook('preAction', (program, called) => rejectLostOptions(program, called))
  for (const subcommand of command.commands) configure(subcommand, writeOut)
}

/**
 * Throws if npm has taken an option for one of its own: it does so with all that stand before `--`. Without this,
 * `npm run push --dry-run FILE` would send the file.
 */
function rejectLostOptions(program: Command, called: Command) {
  // The variables of npm reach every process that a script starts; only the script itself is meant.
  const { npm_lifecycle_event: script, ...env } = process.env
  if (program.name() !== `npm run ${script} --`) return
  for (const option of called.options) {
    const isTaken = env[`npm_config_${option.name().replaceAll('-', '_')}`]
    if (isTaken && called.getOptionValueSource(option.attributeName()) !== 'cli') {
      throw usageError(`npm took ${option.long} for itself. Put -- before the arguments.`)
    }
  }
}

/** Rewrites a message of commander: "error: unknown option '--x=secret'\n(Did you mean --y?)". */
function sentence({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'Missing command. See --help.'
  const [first = '', suggestion = ''] = message.replace(/^error: /, '').split('\n')
  const quoted = first
    .replace(/^(unknown option '--[^=']*)=.*'$/s, "$1'")
    .replace(/'([^']*)'/g, '`$1`')
    .replace(/\.?$/, '.')
  const end = suggestion ? ` ${suggestion.replace(/[()]/g, '')}` : ''
  return `${quoted.charAt(0).toUpperCase()}${quoted.slice(1)}${end}`
}

type Define = (command: Command) => Command

/** Returns the options of a program, see `parseCommand`. */
export const readOptions = <Options extends OptionValues>(
  invocation: string,
  description: string,
  define: Define,
) => parseCommand(invocation, description, define).opts<Options>()

/**
 * Parses the command line of a program. `invocation` is how it is started, such as `npm run bench`;
 * `define` adds its options and arguments. `--help` prints them and ends the program.
 */
export function parseCommand(
  invocation: string,
  description: string,
  define: Define = (command) => command,
): Command {
  const name = invocation.startsWith('npm') ? `${invocation} --` : invocation
  const command = define(new Command(name).description(description)).action(() => {})
  try {
    const help = parseCommandLine(command, process.argv.slice(2))
    if (help === null) return command
    console.log(help)
    process.exit(0)
  } catch (error) {
    if (error instanceof ExitError) exitWithUsageError(error.message)
    throw error
  }
}

/** Parses an option that is a whole number between two bounds. */
export const wholeNumber = (least: number, most: number) => (text: string) => {
  const number = Number(text)
  if (/^-?\d+$/.test(text) && number >= least && number <= most) return number
  throw new InvalidArgumentError(`Use a whole number from ${least} to ${most}.`)
}

/** Joins choices: "none, 1h, 24h or 7d". */
export function orList(choices: readonly string[]): string {
  const others = choices.slice(0, -1)
  return others.length === 0 ? `${choices[0]}` : `${others.join(', ')} or ${choices.at(-1)}`
}

/** Returns the value if it is one of the choices. Throws ExitError otherwise. */
export function parseChoice<const T extends string>(
  name: string,
  choices: readonly T[],
  value: string,
): T {
  const found = choices.find((choice) => choice === value)
  if (found !== undefined) return found
  throw usageError(`Invalid ${name} \`${value}\`. Use ${orList(choices)}.`)
}

/** Formats the examples at the end of a help text. */
export const examplesText = (examples: readonly string[]) =>
  [
    `\n${examples.length === 1 ? 'Example' : 'Examples'}:`,
    ...examples.map((one) => `  ${one}`),
  ].join('\n')
