import { isDevelopment } from '../platform/development.ts'
import { WEBHOOK_LIMITS } from './limits.ts'

/** The common names that are valid only inside a network, or that are reserved. */
const LOCAL_NAMES =
  /(^|\.)(localhost|local|localdomain|internal|intranet|private|lan|home|corp|svc|docker|arpa|onion|invalid)$/

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/

/** The lowest port besides 443: lower ones belong to other protocols. */
const MIN_PORT = 1024

/**
 * Returns what a URL should be instead, such as `an https:// URL`; null if events may be sent to it. It is
 * checked when an endpoint is created and before each attempt. An attacker could otherwise make the service
 * send requests to an internal address (SSRF). Parsing normalizes decimal, octal and hexadecimal IPv4
 * addresses.
 *
 * In development, http and https URLs of `localhost`, `127.0.0.1` and `[::1]` are allowed on any port.
 */
export function urlProblem(text: string, env: Pick<Env, 'BASE_URL'>): string | null {
  if (!URL.canParse(text) || /[\p{Cc}\s]/u.test(text)) return 'an absolute https:// URL'
  const url = new URL(text)
  if (url.href.length > WEBHOOK_LIMITS.urlLength) {
    return `a URL of at most ${WEBHOOK_LIMITS.urlLength} characters`
  }
  if (url.username || url.password) return 'a URL without user name and password'
  if (url.hash) return 'a URL without a fragment'
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:'
  if (isDevelopment(env) && isWeb && LOOPBACK.test(url.hostname)) return null
  if (url.protocol !== 'https:') return 'an https:// URL'
  if (url.port !== '' && Number(url.port) < MIN_PORT) return 'port 443, or one from 1024 on'
  return hostProblem(url.hostname.replace(/\.+$/, ''), env)
}

function hostProblem(host: string, env: Pick<Env, 'BASE_URL'>): string | null {
  // A host that ends in a number is an IPv4 address, or the URL does not parse.
  if (host.startsWith('[') || /(^|\.)\d+$/.test(host)) return 'a host name, not an IP address'
  if (!host.includes('.') || LOCAL_NAMES.test(host)) return 'a host name of the public internet'
  if (host === new URL(env.BASE_URL).hostname) return 'the URL of another service than this one'
  return null
}
