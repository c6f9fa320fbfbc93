import { Command, InvalidArgumentError, type OptionValues } from 'commander'
import { parseCommandLine } from './arguments.ts'
import { ExitError } from './exit-error.ts'
import { rejectSwallowedOptions } from './npm-flags.ts'

// The command line of every script that has options: `--help`, typed values and errors in one line.

/** Ends a program that was called incorrectly: prints the reason in one line, exit code 2. */
export function exitWithUsageError(reason: string): never {
  console.error(reason.replaceAll(/\s*\n\s*/g, ' '))
  process.exit(2)
}

type Define = (command: Command) => Command

/** Returns the options of a program, see `parseCommand`. */
export const readOptions = <Options extends OptionValues>(
  invocation: string,
  description: string,
  define: Define,
) => parseCommand(invocation, description, define).opts<Options>()

/**
 * Parses the command line of a program. `invocation` is how it is started, such as `npm run fuzz`;
 * `define` adds its options and arguments. `--help` prints them and ends the program.
 */
export function parseCommand(
  invocation: string,
  description: string,
  define: Define = (command) => command,
): Command {
  const command = define(newCommand(invocation, description))
  const [, script] = /^npm (?:run )?(?:-s )?(\S+)$/.exec(invocation) ?? []
  // `--verbose` is also an option of npm, which a developer may have set in a configuration file.
  const own = command.options.filter(({ long }) => long !== '--verbose')
  const forms = own.map((option) => [option.name(), option.required ? /./ : null] as const)
  if (script) rejectSwallowedOptions(script, Object.fromEntries(forms))
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

const newCommand = (invocation: string, description: string) =>
  new Command(invocation.startsWith('npm') ? `${invocation} --` : invocation).description(
    description,
  )

/** Returns whether `--check` was given, the only option of the scripts that write derived files. */
export const readCheckOption = (invocation: string, description: string): boolean =>
  readOptions<{ check?: true }>(invocation, description, (command) =>
    command.option('--check', 'only compares; exits with 1 if a file is out of date'),
  ).check === true

/** Parses an option that is a whole number between two bounds. */
export const wholeNumber = (least: number, most: number) => (text: string) => {
  const number = Number(text)
  if (/^-?\d+$/.test(text) && number >= least && number <= most) return number
  throw new InvalidArgumentError(`Use a whole number from ${least} to ${most}.`)
}

/** Parses an option whose value is one of a list. */
export const oneOf =
  <Value extends string>(values: readonly Value[]) =>
  (text: string): Value => {
    const found = values.find((value) => value === text)
    if (found) return found
    throw new InvalidArgumentError(`Use ${values.join(', ')}.`)
  }
