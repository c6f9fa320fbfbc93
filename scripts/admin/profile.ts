import { existsSync } from 'node:fs'
import { usageError } from '../exit-error.ts'
import { DEMO, parseBaseUrl, readFile } from '../push/profile.ts'

/** The address of the service and the key of its integrations team. */
export interface Profile {
  base: string
  /** Never printed and never an argument: shells and `ps` would show it. */
  key: string
}

const VARIABLES = ['TRIBUTARY_BASE_URL', 'TRIBUTARY_ADMIN_KEY'] as const

/** Reads address and key from the environment, or else from the file that `npm run dev` writes. */
export function readProfile(env: NodeJS.ProcessEnv): Profile {
  const set = VARIABLES.filter((name) => env[name])
  const [missing] = VARIABLES.filter((name) => !env[name])
  // Both come from one source: a key must not be sent to the address of another service.
  if (set.length === 1) throw usageError(`${set[0]} is set, but ${missing} is not.`)
  if (set.length > 0) return validate(env.TRIBUTARY_BASE_URL, env.TRIBUTARY_ADMIN_KEY, '')
  if (!existsSync(DEMO)) {
    throw usageError(`No address or key. Run npm run dev, or set ${VARIABLES.join(' and ')}.`)
  }
  const { base_url, admin_key } = readFile(DEMO)
  return validate(base_url, admin_key, `${DEMO}: `)
}

function validate(base: unknown, key: unknown, source: string): Profile {
  if (typeof base !== 'string' || typeof key !== 'string') {
    throw usageError(`${source}base_url or admin_key is missing.`)
  }
  // The error for an invalid header value would quote the key.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw usageError(`${source}The admin key contains a space or another invalid character.`)
  }
  return { base: parseBaseUrl(base), key }
}
