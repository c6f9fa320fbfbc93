import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Option } from 'commander'
import { type Browser, chromium, type Page } from 'playwright-core'
import { ARGUMENTS, executablePath } from '../test-node/browser/chromium.ts'
import { askTeam, joinPortal } from '../test-node/portal/member.ts'
import { startService } from '../test-node/service.ts'
import { globalSetup, globalTeardown } from '../test-node/setup.ts'
import { readOptions } from './command-line.ts'
import { digestFile, PICTURES, pagesDigest } from './screenshots/pages-digest.ts'

const { png, only } = readOptions<{ png?: string; only?: string }>(
  'node scripts/screenshots.ts',
  'Writes pictures of the console into docs/console, and of the portal into docs/portal. Needs Chromium.',
  (command) =>
    command
      .option('--png <folder>', 'also writes them as PNG files into this folder')
      .addOption(
        new Option('--only <pages>', 'takes only these pictures').choices(Object.keys(PICTURES)),
      ),
)

const ACCOUNT = '/console/accounts/demo-broker'
const DESKTOP = { width: 1280, height: 1000 }
const PHONE = { width: 390, height: 844 }

/** How each page is photographed. */
const MODES = [
  { mode: 'light', colorScheme: 'light', viewport: DESKTOP, scale: 1.25 },
  { mode: 'dark', colorScheme: 'dark', viewport: DESKTOP, scale: 1.25 },
  { mode: 'phone', colorScheme: 'light', viewport: PHONE, scale: 2 },
] as const

/** What opens the form of a plan on its page. */
const PLAN_EDITOR = 'summary, a[href*="edit"]'

/** The part of WebP's quality scale from 0 to 1 at which small text stays sharp. */
const QUALITY = 0.8

/** A picture: where it begins, and the links and buttons that lead to what it shows. */
interface Picture {
  readonly name: string
  readonly address: string
  readonly clicks?: readonly string[]
}

/** Returns the month before a time in milliseconds, as `YYYY-MM`. */
function monthBefore(now: number): string {
  const at = new Date(now)
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - 1)).toISOString().slice(0, 7)
}

/** Returns what the pictures show. `now` is in milliseconds. */
function picturesAt(now: number): Picture[] {
  const period = `${ACCOUNT}/statements?period=${monthBefore(now)}`
  return [
    { name: 'overview', address: ACCOUNT },
    { name: 'accounts', address: '/console' },
    { name: 'statements', address: period },
    { name: 'statement', address: period, clicks: ['a[href*="/statements/stm_"]'] },
    { name: 'payouts', address: `${ACCOUNT}/payouts` },
    { name: 'plan', address: `${ACCOUNT}/plans/ib-standard` },
    { name: 'plan-editor', address: `${ACCOUNT}/plans/ib-standard`, clicks: [PLAN_EDITOR] },
    { name: 'affiliates', address: `${ACCOUNT}/affiliates` },
    { name: 'affiliate', address: `${ACCOUNT}/affiliates/IB-4` },
    { name: 'customer', address: `${ACCOUNT}/customers`, clicks: ['a[href*="/customers/"]'] },
    {
      name: 'record',
      address: `${ACCOUNT}/customers`,
      clicks: ['a[href*="/customers/"]', 'a[href*="/records/"]'],
    },
    { name: 'reports', address: `${ACCOUNT}/reports`, clicks: ['a:has-text("By affiliate")'] },
    { name: 'cases', address: `${ACCOUNT}/cases`, clicks: ['button:has-text("Evaluate")'] },
    { name: 'case', address: `${ACCOUNT}/cases`, clicks: ['a[href*="/cases/case_"]'] },
  ]
}

/** Opens what a picture shows, and waits until all of it has arrived and its charts are drawn. */
async function open(page: Page, base: string, { address, clicks = [] }: Picture): Promise<void> {
  await page.goto(base + address)
  for (const click of clicks) {
    await page.locator('main').locator(click).first().click()
    await page.waitForLoadState()
  }
  for (const plot of await page.locator('.plot').all()) await plot.locator('canvas').waitFor()
}

/** Returns a PNG as WebP. Chromium encodes it. */
async function webpOf(page: Page, image: Buffer): Promise<Buffer> {
  const source = `data:image/png;base64,${image.toString('base64')}`
  const url = await page.evaluate<string>(`(async () => {
    const bitmap = await createImageBitmap(await (await fetch(${JSON.stringify(source)})).blob())
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
    canvas.getContext('2d').drawImage(bitmap, 0, 0)
    const blob = await canvas.convertToBlob({ type: 'image/webp', quality: ${QUALITY} })
    return new Promise((done) => {
      const reader = new FileReader()
      reader.onload = () => done(reader.result)
      reader.readAsDataURL(blob)
    })
  })()`)
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64')
}

async function signIn(page: Page, base: string, key: string): Promise<void> {
  await page.goto(`${base}/console/sign-in`)
  await page.getByLabel('Admin key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${base}/console`)
}

/** Writes what a page shows as a picture of a folder. Returns its bytes. */
async function write(page: Page, encoder: Page, folder: string, name: string): Promise<number> {
  const image = await page.screenshot({ animations: 'disabled' })
  const webp = await webpOf(encoder, image)
  writeFileSync(`${folder}/${name}.webp`, webp)
  if (png) writeFileSync(join(png, `${name}.png`), image)
  return webp.length
}

/** Takes all pictures of the console in one mode. Returns the bytes that were written. */
async function takeConsole(
  browser: Browser,
  { base_url, admin_key }: { base_url: string; admin_key: string },
  { mode, colorScheme, viewport, scale }: (typeof MODES)[number],
  pictures: readonly Picture[],
): Promise<number> {
  const context = await browser.newContext({ viewport, colorScheme, deviceScaleFactor: scale })
  const page = await context.newPage()
  // The policy of the console allows no `data:` addresses.
  const encoder = await context.newPage()
  await signIn(page, base_url, admin_key)
  let bytes = 0
  for (const picture of pictures) {
    await open(page, base_url, picture)
    bytes += await write(page, encoder, PICTURES.console.folder, `${picture.name}-${mode}`)
  }
  await context.close()
  return bytes
}

/** What the portal of the pictures looks like: a logo, and a color of its own. */
const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><circle cx="20" cy="20" r="18" fill="#7a1fa2"/><path d="M12 28l8-16 8 16z" fill="#fff"/></svg>`

const LINE = ['tbody a', '.rule-lines summary', 'a.amount']

/** What the pictures of the portal show, by their names. */
const PORTAL_PICTURES: readonly Picture[] = [
  { name: 'overview', address: '' },
  { name: 'statement', address: '/statements', clicks: ['tbody a'] },
  { name: 'why', address: '/statements', clicks: LINE },
  { name: 'customers', address: '/customers' },
  { name: 'payments', address: '/payments' },
  { name: 'links', address: '/links' },
  { name: 'postbacks', address: '/postbacks' },
  { name: 'keys', address: '/passkeys' },
]

/** Takes all pictures of the portal, on a phone. Returns the bytes that were written. */
async function takePortal(
  browser: Browser,
  demo: { base_url: string; admin_key: string },
): Promise<number> {
  const context = await browser.newContext({ viewport: PHONE, deviceScaleFactor: 2 })
  const page = await context.newPage()
  const team = { base: demo.base_url, key: demo.admin_key }
  await askTeam(team, '', 'PATCH', {
    accent_color: '#7a1fa2',
    logo: `data:image/svg+xml;base64,${btoa(LOGO)}`,
    landing_pages: ['https://broker.example/start'],
  })
  const portal = await joinPortal(team, context, page)
  // A device answers only the page in front.
  const encoder = await context.newPage()
  let bytes = 0
  for (const picture of PORTAL_PICTURES) {
    await open(page, portal, picture)
    bytes += await write(page, encoder, PICTURES.portal.folder, picture.name)
  }
  await context.close()
  return bytes
}

const now = Date.now()
if (!executablePath) throw new Error('Chromium is not installed.')
if (png) mkdirSync(png, { recursive: true })
await globalSetup()
const service = await startService()
const browser = await chromium.launch({ executablePath, args: ARGUMENTS })
const TAKE = {
  async console() {
    let bytes = 0
    for (const mode of MODES)
      bytes += await takeConsole(browser, service.demo, mode, picturesAt(now))
    return bytes
  },
  portal: () => takePortal(browser, service.demo),
}
try {
  for (const name of ['console', 'portal'] as const) {
    if (only !== undefined && only !== name) continue
    const set = PICTURES[name]
    const digest = pagesDigest(set)
    rmSync(set.folder, { recursive: true, force: true })
    mkdirSync(set.folder, { recursive: true })
    const bytes = await TAKE[name]()
    writeFileSync(digestFile(set), `${digest}\n`)
    console.log(`${set.folder}: ${Math.ceil(bytes / 1024)} KiB`)
  }
} finally {
  await browser.close()
  await service.stop()
  globalTeardown()
}
