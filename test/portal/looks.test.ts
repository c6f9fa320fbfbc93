import { beforeEach, describe, expect, test } from 'vitest'
import { contrastOf, darkAccentOf, MIN_CONTRAST } from '../../src/platform/validation/accent.ts'
import { askAdmin, json, issuedPartner as partner } from '../partner.ts'
import { openPortal } from './join.ts'

// The logo and the accent color of an account's portal.

const PATH = 'accounts/acme'
const AT = '/portal/acme'

beforeEach(async () => {
  await partner('forex', { account: 'acme' })
})

const change = (body: object) => askAdmin(PATH, 'PATCH', body)

const dataUrl = (bytes: Uint8Array | string, type = '') =>
  `data:${type};base64,${(typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes).toBase64()}`

const svg = (content = '', attributes = 'viewBox="0 0 40 10"') =>
  `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" ${attributes}>${content}</svg>`

/** Returns the beginning of a PNG image, with as many bytes as it should have. */
function png(size = 64): Uint8Array {
  const bytes = new Uint8Array(size)
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return bytes
}

const messageOf = async (logo: unknown) => {
  const { status, errors } = await json(change({ logo }))
  return status === 422 ? (errors[0].message as string) : status
}

describe('a logo', () => {
  test('is shown on every page, sent with its own type and a policy that runs nothing, and removed', async () => {
    const browser = openPortal()
    expect((await browser.get(`${AT}/logo`)).status).toBe(404)
    for (const [image, type] of [
      [svg('<path d="M0 0h9"/>'), 'image/svg+xml'],
      [png(), 'image/png'],
    ] as const) {
      const { logo } = await json(change({ logo: dataUrl(image, type) }))
      expect(logo).toMatchObject({ type, digest: expect.stringMatching(/^[\w-]{16}$/) })
      const page = await (await browser.get(`${AT}/sign-in`)).text()
      expect(page).toContain(`<img src="${AT}/logo?v=${logo.digest}" alt="" class="logo"/>`)
      const response = await browser.get(`${AT}/logo?v=${logo.digest}`)
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': type,
        'content-security-policy': expect.stringMatching(/^sandbox; default-src 'none'/),
        'x-content-type-options': 'nosniff',
        'cache-control': 'public, max-age=31536000, immutable',
      })
      const sent = new Uint8Array(await response.arrayBuffer())
      expect(dataUrl(sent)).toBe(dataUrl(image))
    }
    const { data } = await json(askAdmin('audit-log?account=acme'))
    expect(data[0].details).toEqual({ logo: 'PNG, 64 bytes', before: { logo: 'SVG, 105 bytes' } })
    expect((await json(change({ logo: null }))).logo).toBeNull()
    expect((await browser.get(`${AT}/logo`)).status).toBe(404)
    expect(await (await browser.get(`${AT}/sign-in`)).text()).not.toContain('class="logo"')
  })

  test.each<[string, unknown, string]>([
    ['that is no data URL', 'https://acme.example/logo.png', 'as a data URL'],
    ['of another type', dataUrl('x', 'image/gif'), 'as a data URL'],
    ['that is a JPEG', dataUrl(new Uint8Array([0xff, 0xd8, 0xff, 0xe0])), 'this file is neither'],
    ['that is a page', dataUrl('<html><svg/></html>'), 'this file is neither'],
    ['of 51,201 bytes', dataUrl(png(51_201)), 'at most 51,200 bytes'],
    ['of 2 MB', dataUrl(png(2_000_000)), 'at most 51,200 bytes'],
  ])('%s is refused, and says why', async (_, logo, reason) => {
    expect(await messageOf(logo)).toContain(reason)
    expect((await openPortal().get(`${AT}/logo`)).status).toBe(404)
  })

  test('of 9 MB is not read', async () => {
    const response = await change({ logo: 'x'.repeat(9_000_000) })
    expect(response.status).toBe(413)
  })
})

describe('an accent color', () => {
  test('colors links and buttons in light, and a lighter one links in dark', async () => {
    const browser = openPortal()
    expect((await browser.get(`${AT}/colors.css`)).status).toBe(404)
    expect((await json(change({ accent_color: '#7A1FA2' }))).accent_color).toBe('#7a1fa2')
    const page = await (await browser.get(`${AT}/sign-in`)).text()
    expect(page).toContain(`href="${AT}/colors.css?v=7a1fa2"`)
    const response = await browser.get(`${AT}/colors.css?v=7a1fa2`)
    expect(response.headers.get('Content-Type')).toContain('text/css')
    expect(await response.text()).toContain(':root { --link: #7a1fa2; --button: #7a1fa2; }')
    expect((await json(change({ accent_color: null }))).accent_color).toBeNull()
  })

  test.each([
    ['#ffffff', 'contrast with white is 1.00'],
    ['#777777', 'contrast with white is 4.48'],
    ['#ffcc00', 'choose a darker color'],
    ['red', '#rrggbb'],
    ['#12345', '#rrggbb'],
    ['#123456;}', '#rrggbb'],
  ])('%s is refused', async (accent_color, reason) => {
    const { status, errors } = await json(change({ accent_color }))
    expect([status, errors[0].message]).toEqual([422, expect.stringContaining(reason)])
  })

  test('can be read in dark, whatever it is', () => {
    expect(contrastOf('#000000', '#ffffff')).toBeCloseTo(21)
    expect(contrastOf('#767676', '#ffffff')).toBeGreaterThan(MIN_CONTRAST)
    for (let red = 0; red < 256; red += 51) {
      for (let green = 0; green < 256; green += 51) {
        for (let blue = 0; blue < 256; blue += 51) {
          const color = `#${[red, green, blue].map((one) => one.toString(16).padStart(2, '0')).join('')}`
          for (const dark of ['#0f1618', '#172023']) {
            expect(contrastOf(darkAccentOf(color), dark)).toBeGreaterThan(MIN_CONTRAST)
          }
        }
      }
    }
  })
})
