import { existsSync, readFileSync } from 'node:fs'
import { usageError } from '../exit-error.ts'
import type { Vertical } from './verticals.ts'

/** The profile that `npm run dev` writes. */
export const DEMO = '.demo.json'

/** The address of the service and the credential. */
export interface Profile {
  readonly base: string
  /** The members of the vertical's credential. Never printed. */
  readonly secrets: Readonly<Record<string, string>>
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

/** Reads the address and the credential from the environment, or else from `.demo.json`. */
export function readProfile({ name, credential }: Vertical, env: NodeJS.ProcessEnv): Profile {
  // Both come from one source: a secret must not be sent to the address of another service.
  const variables = ['base_url', ...credential].map((member) => `TRIBUTARY_${member.toUpperCase()}`)
  const missing = variables.filter((variable) => !env[variable])
  const isSet = missing.length < variables.length
  if (missing.length > 0 && (isSet || !existsSync(DEMO))) {
    throw usageError(`No address or credential. Set ${missing.join(', ')}, or run npm run dev.`)
  }
  const { base_url = '', accounts = [] } = isSet ? {} : readFile(DEMO)
  const account = accounts.find(({ vertical }) => vertical === name)
  const base = isSet ? env.TRIBUTARY_BASE_URL! : base_url
  const secrets = credential.map((member, i) => {
    const secret = (isSet ? env[variables[i + 1]!] : account?.[member]) ?? ''
    if (VSCHARS.test(secret)) return [member, secret] as const
    throw usageError(`The ${member} for ${name} is missing or has invalid characters.`)
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
