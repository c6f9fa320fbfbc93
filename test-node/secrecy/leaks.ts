import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { learnKeys, learnSecret } from './learn.ts'
import { bytesOf, found, nothing, type Sought } from './search.ts'

// Searches the output of our programs, and the files that they leave, for the secrets of a test.

/** Returns what to search for: secrets and key sets by their names. */
export function sought(secrets: Record<string, string>, keySets: Record<string, string> = {}) {
  const all = nothing()
  for (const [kind, secret] of Object.entries(secrets)) learnSecret(all, kind, secret)
  for (const [kind, set] of Object.entries(keySets)) learnKeys(all, kind, set)
  return all
}

/** Returns which secret a text contains, in any encoding, or null. */
export const leakIn = (text: string, secrets: Sought) => found(bytesOf(text), [secrets])

/** Returns which secret the files of a folder contain, and where, or null. Reads files as bytes. */
export function leakInFiles(folder: string, secrets: Sought): string | null {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const secret = found(readFileSync(join(entry.parentPath, entry.name), 'latin1'), [secrets])
    if (secret) return `${entry.name} has the ${secret}`
  }
  return null
}
