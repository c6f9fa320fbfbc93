import { type ParseArgsConfig, parseArgs } from 'node:util'

// How our programs hear what they are told: who calls one wrongly is answered in one line.

/** Ends a program that was called wrongly, and says why: exit code 2. */
export function misused(why: string): never {
  console.error(why)
  process.exit(2)
}

/** The options of a program, as `parseArgs` reads them. */
export function readOptions<const T extends NonNullable<ParseArgsConfig['options']>>(options: T) {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    const known = Object.keys(options).map((name) => `--${name}`)
    const why = (error as Error).message.replaceAll('\n', ' ').replace(/\.$/, '')
    return misused(`${why}. Known: ${known.join(', ')}.`)
  }
}

/** A whole number within bounds, said as the option of that name. */
export function wholeOf(name: string, said: string, least: number, most: number): number {
  const n = Number(said)
  if (/^\d+$/.test(said) && n >= least && n <= most) return n
  return misused(`--${name} is a whole number from ${least} to ${most}.`)
}
