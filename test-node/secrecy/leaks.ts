import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { learnKeys, learnSecret } from './learn.ts'
import { bytesOf, found, nothing, type Sought } from './search.ts'

// What our programs print, and the files they leave, searched for secrets that a test knows.

/** Secrets to be sought, by what they are. */
export function sought(secrets: Record<string, string>, keySets: Record<string, string> = {}) {
  const all = nothing()
  for (const [kind, secret] of Object.entries(secrets)) learnSecret(all, kind, secret)
  for (const [kind, set] of Object.entries(keySets)) learnKeys(all, kind, set)
  return all
}

/** What of them a text has, in whatever coding; null: nothing. */
export const leakIn = (text: string, secrets: Sought) => found(bytesOf(text), [secrets])

/** What of them the files of a folder have, and where; null: nothing. The files are read as bytes. */
export function leakInFiles(folder: string, secrets: Sought): string | null {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const said = found(readFileSync(join(entry.parentPath, entry.name), 'latin1'), [secrets])
    if (said) return `${entry.name} has the ${said}`
  }
  return null
}
