import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildOurs } from '../bench/build.ts'
import { mulberry32 } from '../bench/records.ts'
import { readOptions, wholeNumber } from '../scripts/command-line.ts'

/** What a proof works with. */
export interface Setting {
  /** The service as it is deployed, in one file. */
  script: string
  /** A folder of its own, that goes when the proof ends. */
  folder: string
  /** Numbers from 0 to 1, the same for the same seed. */
  random: () => number
  /** Says what is going on. */
  say: (line: string) => void
  /** Holds the service to its word; `words` say what was broken. */
  hold: (kept: boolean, words: string) => boolean
  /** What was broken, in words. */
  broken: string[]
}

/** Builds the service, and all else that a proof works with; `end` leaves nothing behind. */
export async function newSetting(seed: number, say: Setting['say']) {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-proof-'))
  const end = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', end)
  const script = await buildOurs(join(folder, 'build'))
  const broken: string[] = []
  const hold = (kept: boolean, words: string) => {
    if (!kept) {
      broken.push(words)
      // The first say what went wrong; thousands more would only hide them.
      if (broken.length <= 20) say(`BROKEN: ${words}`)
    }
    return kept
  }
  const setting: Setting = { script, folder, random: mulberry32(seed), say, hold, broken }
  return { setting, end }
}

/** An option that is a whole number: its help, default and bounds. */
export interface Option {
  help: string
  value: number
  least: number
  most: number
}

/**
 * Runs a proof as a program, where it was started as one: whole numbers as options, and `--seed`. It
 * ends with 1 where a promise is broken.
 */
export async function program<const O extends Record<string, Option>>(
  url: string,
  description: string,
  options: O,
  prove: (setting: Setting, numbers: Record<keyof O, number>) => Promise<void>,
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
      return command.option('--seed <number>', 'repeats a run', wholeNumber(0, 2 ** 31), seed)
    },
  )
  console.log(`Seed ${numbers.seed}: --seed ${numbers.seed} draws the same again.`)
  const { setting, end } = await newSetting(numbers.seed, (line) => console.log(line))
  try {
    await prove(setting, numbers)
  } finally {
    end()
  }
  const { length } = setting.broken
  console.log(length === 0 ? 'All promises were kept.' : `${length} promises were broken.`)
  process.exitCode = length === 0 ? 0 : 1
}
