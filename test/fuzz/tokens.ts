import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { base64url, exportSPKI, importJWK, type JWTHeaderParameters, SignJWT } from 'jose'
import { mangled } from './edits.ts'

// Forged tokens, by the methods that have succeeded against other services.

const encoded = (value: unknown) => base64url.encode(JSON.stringify(value))

const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2048,
  publicExponent: Uint8Array.of(1, 0, 1),
}

/** Generates forged tokens from a valid token, our public key, and other keys. */
export async function forger(token: string) {
  const [head = '', body = '', signature = ''] = token.split('.')
  const header = JSON.parse(atob(head)) as JWTHeaderParameters
  const claims = JSON.parse(new TextDecoder().decode(base64url.decode(body)))
  const otherPair = (await crypto.subtle.generateKey(RSA, true, [
    'sign',
    'verify',
  ])) as CryptoKeyPair
  const [{ n, e }] = JSON.parse(env.SIGNING_KEYS).keys
  const publicKey = (await importJWK(
    { kty: 'RSA', n, e, alg: 'RS256', ext: true },
    'RS256',
  )) as CryptoKey
  const spki = await exportSPKI(publicKey)
  // The public key, used as an HMAC secret: https://www.rfc-editor.org/rfc/rfc8725#section-2.1
  const secrets = [spki, spki.trim(), n, JSON.stringify({ kty: 'RSA', n, e }), '', 'secret'].map(
    (text) => new TextEncoder().encode(text),
  )
  const otherKey = (await crypto.subtle.exportKey('jwk', otherPair.publicKey)) as JsonWebKey
  const signWithOtherKey = (claimEdits: object, headerEdits: object) =>
    new SignJWT({ ...claims, ...claimEdits })
      .setProtectedHeader({ ...header, ...headerEdits })
      .sign(otherPair.privateKey)

  async function hmac(claimEdits: object, headerEdits: object, secret: Uint8Array) {
    const text = `${encoded({ ...header, ...headerEdits })}.${encoded({ ...claims, ...claimEdits })}`
    const hash = { name: 'HMAC', hash: 'SHA-256' }
    // An empty secret cannot be imported: a signature of nothing stands for it.
    if (secret.length === 0) return `${text}.${'A'.repeat(43)}`
    const key = await crypto.subtle.importKey('raw', secret, hash, false, ['sign'])
    const mac = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text))
    return `${text}.${base64url.encode(new Uint8Array(mac))}`
  }

  const editedClaims = fc.record(
    {
      client_id: fc.constantFrom('admin', '', null, claims.client_id, 7),
      jti: fc.constantFrom(claims.jti, '', null, '../x', crypto.randomUUID()),
      sub: fc.constantFrom('admin', null, claims.sub),
      scope: fc.constantFrom('read write', 'admin', '', null, ['read']),
      iss: fc.constantFrom('https://evil.example', `${claims.iss}/`, null, [claims.iss]),
      aud: fc.constantFrom('https://evil.example', [claims.aud, 'x'], null),
      exp: fc.constantFrom(9_999_999_999, 0, -1, '9999999999', null, 1e300),
      nbf: fc.constantFrom(0, 9_999_999_999, 'x'),
      iat: fc.constantFrom(0, 9_999_999_999, null, 'x'),
      ['__proto__']: fc.constantFrom({ jti: claims.jti }, null),
    },
    { requiredKeys: [] },
  )
  const editedHeader = fc.record(
    {
      alg: fc.constantFrom('none', 'None', 'NONE', 'nOnE', '', 'HS256', 'RS384', 'PS256', 'ES256'),
      typ: fc.constantFrom('JWT', 'at+jwt ', 'AT+JWT', 'application/at+jwt', null, ''),
      kid: fc.constantFrom('second', 'team', '', '../../dev/null', "' or 1=1 --", null, 7),
      crit: fc.constantFrom(['exp'], ['b64'], [], 'exp', ['x'.repeat(2000)]),
      b64: fc.boolean(),
      zip: fc.constant('DEF'),
      jku: fc.constant('https://evil.example/jwks.json'),
      x5u: fc.constant('https://evil.example/cert.pem'),
      jwk: fc.constant(otherKey),
      x5c: fc.constant(['MIIB']),
      cty: fc.constant('JWT'),
    },
    { requiredKeys: [] },
  )

  /** Tokens that are not the valid one. */
  const attempts: fc.Arbitrary<() => Promise<string>> = fc.oneof(
    { weight: 4, arbitrary: mangled(token).map((text) => async () => text) },
    fc
      .shuffledSubarray([head, body, signature, '', head, signature, 'e30'], { minLength: 1 })
      .map((parts) => async () => parts.join('.')),
    fc
      .tuple(
        editedHeader,
        editedClaims,
        fc.constantFrom(signature, '', 'AA', signature.slice(0, -2)),
      )
      .map(([headerEdits, claimEdits, sign]) => async () => {
        return `${encoded({ ...header, ...headerEdits })}.${encoded({ ...claims, ...claimEdits })}.${sign}`
      }),
    fc
      .tuple(
        editedClaims,
        fc.constantFrom({}, { jwk: otherKey }, { kid: 'second' }, { kid: 'own' }),
      )
      .map(
        ([claimEdits, headerEdits]) =>
          () =>
            signWithOtherKey(claimEdits, headerEdits),
      ),
    fc
      .tuple(editedClaims, fc.constantFrom(...secrets), fc.constantFrom('HS256', 'RS256', 'none'))
      .map(
        ([claimEdits, secret, alg]) =>
          () =>
            hmac(claimEdits, { alg }, secret),
      ),
    fc
      .constantFrom(
        `${token}.${token}`,
        `${token},${token}`,
        `${token} ${token}`,
        `"${token}"`,
        `${token}==`,
        `${token}.`,
        `.${token}`,
        `${head}..${signature}`,
        `${head}.${body}.`,
        `${head}.${body}`,
        token.toLowerCase(),
        encodeURIComponent(`${token} `),
        atob(head),
        `${token}${'A'.repeat(60_000)}`,
        `${'.'.repeat(10_000)}`,
        token.replaceAll('.', '..'),
        token.replace('.', ','),
        token.replaceAll('-', '+').replaceAll('_', '/'),
      )
      .map((text) => async () => text),
  )
  return attempts
}
