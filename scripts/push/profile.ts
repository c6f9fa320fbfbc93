import { existsSync, readFileSync } from 'node:fs'
import { orList } from '../command-line.ts'
import { usageError } from '../exit-error.ts'
import type { Vertical } from './vertical.ts'

/** The profile that `npm run dev` writes. */
export const DEMO = '.demo.json'

/** The address of the service and the credential. */
export interface Profile {
  base: string
  /** The members of the vertical's credential. Never printed. */
  secrets: Record<string, string>
}

/**
 * Visible characters and spaces. The error for any other header value would quote the secret.
 *
 * @see [RFC 6749 appendix A](https://www.rfc-editor.org/rfc/rfc6749#appendix-A)
 */
const VSCHARS = /^[\x20-\x7e]+$/

interface File {
  base_url?: string
  admin_key?: string
  accounts?: Record<string, string>[]
}

/** Reads the address and the credential from the environment, or else from a profile. */
export function readProfile(
  { name: vertical, credential }: Vertical,
  chosen: { profile: string | null; account: string | null },
  env: NodeJS.ProcessEnv,
): Profile {
  // Both come from one source: a secret must not be sent to the address of another service.
  const variables = ['base_url', ...credential.members].map(
    (member) => `TRIBUTARY_${member.toUpperCase()}`,
  )
  const given = variables.filter((variable) => env[variable])
  const missing = variables.filter((variable) => !env[variable])
  if (given.length > 0 && missing.length > 0) {
    const [set, unset] = [given.join(', '), missing.join(', ')]
    throw usageError(`Set all of these variables or none. Set: ${set}. Not set: ${unset}.`)
  }
  const fromEnv = given.length > 0
  const path = chosen.profile ?? (existsSync(DEMO) ? DEMO : null)
  const file = path === null || fromEnv ? {} : readFile(path)
  const base = fromEnv ? env.TRIBUTARY_BASE_URL : file.base_url
  if (!base) {
    const all = variables.join(', ')
    throw usageError(`No address or credential. Run npm run dev, add --profile, or set ${all}.`)
  }
  const source = fromEnv ? env : accountOf(file, path!, vertical, chosen.account)
  const secrets = credential.members.map((member, i) => {
    const secret = source[fromEnv ? variables[i + 1]! : member]
    if (typeof secret === 'string' && secret !== '') {
      if (VSCHARS.test(secret)) return [member, secret]
      throw usageError(`The ${member} for ${vertical} contains invalid characters.`)
    }
    throw usageError(`${path}: the ${vertical} account has no ${member}.`)
  })
  return { base: parseBaseUrl(base), secrets: Object.fromEntries(secrets) }
}

/** Reads a profile. Errors never quote its text. */
export function readFile(path: string): File {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw usageError(`Cannot read ${path} (${(error as NodeJS.ErrnoException).code}).`, error)
  }
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message quotes the text, which contains secrets.
    throw usageError(`${path} is not valid JSON.`)
  }
}

/** A link of an account in the profile. */
export interface AccountLink {
  account: string
  link_id: string
}

/** Returns the links in a profile, or none if the profile is for another service. */
export function readLinks(path: string, base: string): AccountLink[] {
  if (!existsSync(path)) return []
  const { base_url, accounts } = readFile(path)
  if (base_url === undefined || parseBaseUrl(base_url) !== base) return []
  return (accounts ?? []).flatMap(({ account, link_id }) =>
    account && link_id ? [{ account, link_id }] : [],
  )
}

function accountOf({ accounts }: File, path: string, vertical: string, name: string | null) {
  const all = (Array.isArray(accounts) ? accounts : []).filter(
    (account) => account.vertical === vertical,
  )
  const matching = name === null ? all : all.filter((one) => [one.account, one.name].includes(name))
  if (matching.length === 1) return matching[0]!
  const known = all.map((account) => account.name ?? '')
  if (matching.length > 1) {
    throw usageError(`${path} has several ${vertical} accounts. Add --account ${orList(known)}.`)
  }
  const missing = name === null ? `no ${vertical} account` : `no ${vertical} account \`${name}\``
  const use = known.length > 0 ? ` Use ${orList(known)}.` : ''
  throw usageError(`${path} has ${missing}.${use}`)
}

/** Validates a base address. Plain HTTP sends the secret unencrypted: only this machine may use it. */
export function parseBaseUrl(base: string): string {
  const url = URL.parse(base)
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '')
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLocal))) {
    throw usageError('The base address must begin with https:// (http:// only for this machine).')
  }
  if (url.username || url.password)
    throw usageError('The base address must not contain a password.')
  return url.href.replace(/\/+$/, '')
}
