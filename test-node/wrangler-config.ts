import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Config, configOf } from '../scripts/config.ts'

/** Stores what wrangler read, because loading wrangler takes a second. */
const STORED = 'dist/wrangler-config.json'

/** Returns the settings of wrangler.toml in a copy of the repository, as wrangler reads them. */
export function readConfig(root: string): Config {
  const path = join(root, 'wrangler.toml')
  const text = readFileSync(path, 'utf8')
  const file = join(root, STORED)
  const stored = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
  if (stored?.text === text) return stored.config
  const config = configOf(undefined, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify({ text, config }))
  return config
}
