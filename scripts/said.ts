import { type ParseArgsConfig, parseArgs } from 'node:util'

// Options of the programs in `proof` and `bench`: a usage error is one line.

/** Prints why a program was called incorrectly, and exits with code 2. */
export function misused(reason: string): never {
  console.error(reason)
  process.exit(2)
}

/** Reads the options of a program with `parseArgs`. */
export function readOptions<const T extends NonNullable<ParseArgsConfig['options']>>(options: T) {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    const known = Object.keys(options).map((name) => `--${name}`)
    const reason = (error as Error).message.replaceAll('\n', ' ').replace(/\.$/, '')
    return misused(`${reason}. Use ${known.join(', ')}.`)
  }
}

/** Parses the value of an option as a whole number within bounds. */
export function wholeOf(name: string, value: string, least: number, most: number): number {
  const number = Number(value)
  if (/^\d+$/.test(value) && number >= least && number <= most) return number
  return misused(`Invalid --${name} \`${value}\`. Use a whole number from ${least} to ${most}.`)
}
