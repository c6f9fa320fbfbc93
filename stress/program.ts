import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildOurs } from '../bench/build.ts'
import { readOptions, wholeNumber } from '../scripts/command-line.ts'
import { fractions } from '../scripts/dev/fractions.ts'

/** The tools of a stress program. */
export interface Setting {
  /** The bundled service, as it is deployed. */
  script: string
  /** A temporary folder, which is removed at the end. */
  folder: string
  /** Returns numbers from 0 to 1, the same ones for the same seed. */
  random: () => number
  /** Prints progress. */
  print: (line: string) => void
  /** Records a broken promise, described by `message`, unless `isKept` is true. Returns `isKept`. */
  check: (isKept: boolean, message: string) => boolean
  /** Descriptions of the promises that were broken. */
  broken: string[]
}

/** Builds the service and the tools of a stress program. `end` removes all of them. */
export async function newSetting(seed: number, print: Setting['print']) {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-stress-'))
  const end = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', end)
  const script = await buildOurs()
  const broken: string[] = []
  const check = (isKept: boolean, message: string) => {
    if (!isKept) {
      broken.push(message)
      // The first failures explain the problem; thousands more would hide them.
      if (broken.length <= 20) print(`BROKEN: ${message}`)
    }
    return isKept
  }
  const setting: Setting = { script, folder, random: fractions(seed), print, check, broken }
  return { setting, end }
}

/** A numeric option of a program, with its help, default and bounds. */
export interface Option {
  help: string
  value: number
  least: number
  most: number
}

/**
 * Runs a stress program if its module was started as one, with numeric options and `--seed`. The exit
 * code is 1 if a promise was broken.
 */
export async function runProgram<const O extends Record<string, Option>>(
  url: string,
  description: string,
  options: O,
  run: (setting: Setting, numbers: Record<keyof O, number>) => Promise<void>,
): Promise<void> {
  if (url !== pathToFileURL(process.argv[1]!).href) return
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
  const numbers = readOptions<Record<keyof O | 'seed', number>>(
    `npm run ${basename(url, '.ts')}`,
    description,
    (command) => {
      for (const [name, { help, value, least, most }] of Object.entries(options))
        command.option(`--${name} <number>`, help, wholeNumber(least, most), value)
      const seed = Date.now() % 1_000_000
      return command.option(
        '--seed <number>',
        'repeats a run; random if absent',
        wholeNumber(0, 2 ** 31),
        seed,
      )
    },
  )
  console.log(`Seed ${numbers.seed}: --seed ${numbers.seed} repeats this run.`)
  const { setting, end } = await newSetting(numbers.seed, (line) => console.log(line))
  try {
    await run(setting, numbers)
  } finally {
    end()
  }
  const { length } = setting.broken
  console.log(length === 0 ? 'All promises were kept.' : `${length} promises were broken.`)
  process.exitCode = length === 0 ? 0 : 1
}
