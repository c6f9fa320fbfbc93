import { existsSync } from 'node:fs'
import { misuse } from '../push/halt.ts'
import { checkedAddress, DEMO, readFile } from '../push/profile.ts'

/** Which service, and the key of its integrations team. */
export interface Profile {
  base: string
  /** Never printed, and never an argument: it would be in the shell's history, and in `ps`. */
  key: string
}

const VARIABLES = ['TRIBUTARY_BASE_URL', 'TRIBUTARY_ADMIN_KEY'] as const

/** Address and key, both from the environment, or both from the file that `npm run dev` writes. */
export function readProfile(env: NodeJS.ProcessEnv): Profile {
  const [missing, given] = [VARIABLES.filter((name) => !env[name]), VARIABLES.filter((n) => env[n])]
  // The key of one service must not be sent to another.
  if (given.length === 1) throw misuse(`${given[0]} is set, but ${missing[0]} is not.`)
  if (given.length > 0) return checked(env.TRIBUTARY_BASE_URL, env.TRIBUTARY_ADMIN_KEY, '')
  if (!existsSync(DEMO)) {
    throw misuse(`No address or key: run npm run dev, or set ${VARIABLES.join(' and ')}.`)
  }
  const { base_url, admin_key } = readFile(DEMO)
  return checked(base_url, admin_key, `${DEMO}: `)
}

function checked(base: unknown, key: unknown, source: string): Profile {
  if (typeof base !== 'string' || typeof key !== 'string') {
    throw misuse(`${source}base_url or admin_key is missing.`)
  }
  // What cannot be in a header would be quoted by the error that says so.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw misuse(`${source}The admin key has a blank or another character that no key has.`)
  }
  return { base: checkedAddress(base), key }
}
