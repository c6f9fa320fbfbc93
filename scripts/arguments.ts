import { type Command, CommanderError, Option } from 'commander'
import { type ExitError, usageError } from './exit-error.ts'

// What `push` and `admin` share on top of commander: one-line errors, and help as a value.

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
    if (error instanceof CommanderError && error.code === 'commander.helpDisplayed') {
      return help.trimEnd()
    }
    throw error
  }
}

function configure(command: Command, writeOut: (text: string) => void) {
  command
    .helpOption('-h, --help', 'Shows this help.')
    .helpCommand(false)
    .configureOutput({ writeOut, writeErr: () => {}, outputError: () => {}, getOutHelpWidth })
    .configureHelp({ styleTitle: (title) => title })
    .exitOverride((error) => {
      throw error.code === 'commander.helpDisplayed' ? error : toUsageError(error, command)
    })
  for (const subcommand of command.commands) configure(subcommand, writeOut)
}

/** The same width everywhere: help is also piped, tested and quoted. */
const getOutHelpWidth = () => 100

/** Converts an error of commander to one line that says what to use instead. */
export function toUsageError(error: CommanderError, command: Command): ExitError {
  const subcommands = command.commands.map((one) => one.name())
  if (error.code === 'commander.help') {
    const after = command.parent ? ` after \`${command.name()}\`` : ''
    return usageError(`Missing command${after}. Use ${orList(subcommands)}.`, error)
  }
  const [, flag] = /^error: unknown option '(--[^=']+)=/.exec(error.message) ?? []
  if (flag !== undefined && command.options.some(({ long }) => long === flag)) {
    return usageError(`\`${flag}\` takes no value.`, error)
  }
  const message = sentence(error.message)
  if (message.includes('Did you mean')) return usageError(message, error)
  if (error.code === 'commander.unknownCommand') {
    return usageError(`${message} Use ${orList(subcommands)}.`, error)
  }
  if (error.code === 'commander.unknownOption') {
    const options = command.options.map(({ long }) => `${long}`)
    return usageError(`${message} Use ${orList([...options, '--help'])}.`, error)
  }
  return usageError(message, error)
}

/** Rewrites a message of commander: "error: unknown option '--x=secret'\n(Did you mean --y?)". */
function sentence(message: string): string {
  const [first = '', suggestion = ''] = message.replace(/^error: /, '').split('\n')
  const quoted = first
    .replace(/^(unknown option '--[^=']*)=.*'$/s, "$1'")
    .replace(/^option ('.*') argument missing$/, 'missing value of $1')
    .replace(/^required option ('.*') not specified$/, 'missing option $1')
    .replace(/^missing required argument/, 'missing argument')
    .replace(/'([^']*)'/g, '`$1`')
    .replace(/\.?$/, '.')
  const capitalized = `${quoted.charAt(0).toUpperCase()}${quoted.slice(1)}`
  return suggestion === '' ? capitalized : `${capitalized} ${suggestion.replace(/[()]/g, '')}`
}

/** Joins choices: "none, 1h, 24h or 7d". */
export function orList(choices: readonly string[]): string {
  const others = choices.slice(0, -1)
  return others.length === 0 ? `${choices[0]}` : `${others.join(', ')} or ${choices.at(-1)}`
}

/** Returns the value if it is one of the choices. */
export function parseChoice<const T extends string>(
  name: string,
  choices: readonly T[],
  value: string,
): T {
  const found = choices.find((choice) => choice === value)
  if (found !== undefined) return found
  throw usageError(`Invalid ${name} \`${value}\`. Use ${orList(choices)}.`)
}

/** Returns a whole number of at most six digits. */
export function parseWholeNumber(name: string, least: number, value: string): number {
  if (/^\d{1,6}$/.test(value) && Number(value) >= least) return Number(value)
  throw usageError(`Invalid ${name} \`${value}\`. Use a whole number of at least ${least}.`)
}

/** An option whose value is one of the choices. */
export const choiceOption = <const T extends string>(
  flags: string,
  description: string,
  choices: readonly T[],
): Option => {
  const option = new Option(flags, description).choices(choices)
  return option.argParser((value: string) => parseChoice(`--${option.name()}`, choices, value))
}

/** An option whose value is a whole number. */
export const wholeNumberOption = (flags: string, description: string, least: number): Option => {
  const option = new Option(flags, description)
  return option.argParser((value: string) => parseWholeNumber(`--${option.name()}`, least, value))
}

/** Formats the examples at the end of a help text. */
export const examplesText = (examples: readonly string[]) =>
  [
    `\n${examples.length === 1 ? 'Example' : 'Examples'}:`,
    ...examples.map((one) => `  ${one}`),
  ].join('\n')
