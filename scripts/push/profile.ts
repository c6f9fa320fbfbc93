import { existsSync, readFileSync } from 'node:fs'
import { misuse } from './halt.ts'
import type { Vertical } from './verticals.ts'

/** The profile that `npm run dev` writes. */
export const DEMO = '.demo.json'

/** To which service, and as whom. */
export interface Profile {
  base: string
  /** The members that the vertical's credential needs; never printed. */
  secrets: Record<string, string>
}

/**
 * A header with anything else is refused with a message that quotes it.
 *
 * @see [RFC 6749 appendix A](https://www.rfc-editor.org/rfc/rfc6749#appendix-A)
 */
const VSCHARS = /^[\x20-\x7e]+$/

interface File {
  base_url?: string
  admin_key?: string
  accounts?: Record<string, string>[]
}

/** The base address and credentials, from the environment or else from a profile. */
export function readProfile(
  { name: vertical, credential }: Vertical,
  chosen: { profile: string | null; account: string | null },
  env: NodeJS.ProcessEnv,
): Profile {
  // All of it from one place: a secret of the one must not go to the address of the other.
  const variables = ['base_url', ...credential.members].map(
    (member) => `TRIBUTARY_${member.toUpperCase()}`,
  )
  const given = variables.filter((variable) => env[variable])
  const missing = variables.filter((variable) => !env[variable])
  if (given.length > 0 && missing.length > 0) {
    throw misuse(`Set all of it or none: ${given.join(', ')} is there, ${missing.join(', ')} not.`)
  }
  const fromEnv = given.length > 0
  const path = chosen.profile ?? (existsSync(DEMO) ? DEMO : null)
  const file = path === null || fromEnv ? {} : readFile(path)
  const base = fromEnv ? env.TRIBUTARY_BASE_URL : file.base_url
  if (!base) {
    const all = variables.join(', ')
    throw misuse(`No address or credentials: run npm run dev, name a --profile, or set ${all}.`)
  }
  const source = fromEnv ? env : accountOf(file, path!, vertical, chosen.account)
  const secrets = credential.members.map((member, i) => {
    const secret = source[fromEnv ? variables[i + 1]! : member]
    if (typeof secret === 'string' && secret !== '') {
      if (VSCHARS.test(secret)) return [member, secret]
      throw misuse(`The ${member} of ${vertical} has characters that no secret has.`)
    }
    throw misuse(`${path}: the account of ${vertical} has no ${member}.`)
  })
  return { base: checkedAddress(base), secrets: Object.fromEntries(secrets) }
}

/** The members of a profile; what its text is, is never said. */
export function readFile(path: string): File {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw misuse(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`, error)
  }
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message quotes the text, which is made of secrets.
    throw misuse(`${path} is not JSON.`)
  }
}

/** A link of an account that the profile names. */
export interface Linked {
  account: string
  link_id: string
}

/** The links that a profile names, if it is of this service. */
export function linksOf(path: string, base: string): Linked[] {
  if (!existsSync(path)) return []
  const { base_url, accounts } = readFile(path)
  if (base_url === undefined || checkedAddress(base_url) !== base) return []
  return (accounts ?? []).flatMap(({ account, link_id }) =>
    account && link_id ? [{ account, link_id }] : [],
  )
}

function accountOf({ accounts }: File, path: string, vertical: string, name: string | null) {
  const all = (Array.isArray(accounts) ? accounts : []).filter(
    (account) => account.vertical === vertical,
  )
  const fitting = name === null ? all : all.filter((one) => [one.account, one.name].includes(name))
  if (fitting.length === 1) return fitting[0]!
  const known = all.map((account) => account.name).join(', ')
  if (fitting.length > 1) throw misuse(`${path}: choose with --account one of: ${known}.`)
  const called = name === null ? '' : ` called "${name}"`
  throw misuse(`${path} has no account of ${vertical}${called}; known are: ${known || 'none'}.`)
}

/** A base address; plain HTTP would send the secret in clear: it is for this machine only. */
export function checkedAddress(base: string): string {
  const url = URL.parse(base)
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '')
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLocal))) {
    throw misuse('The base address is an https:// one (http:// on this machine only).')
  }
  if (url.username || url.password) throw misuse('The base address must not have a password in it.')
  return url.href.replace(/\/+$/, '')
}
