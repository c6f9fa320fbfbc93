import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { ARGUMENTS, executablePath } from '../test-node/browser/chromium.ts'
import { startService } from '../test-node/service.ts'
import { globalSetup, globalTeardown } from '../test-node/setup.ts'
import { readOptions } from './command-line.ts'
import { DIGEST_FILE, pagesDigest } from './screenshots/pages-digest.ts'

const { png } = readOptions<{ png?: string }>(
  'node scripts/screenshots.ts',
  'Writes pictures of the console into docs/console. Needs Chromium.',
  (command) => command.option('--png <folder>', 'also writes them as PNG files into this folder'),
)

const FOLDER = 'docs/console'
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

/** Takes all pictures of one mode. Returns the bytes that were written. */
async function takeAll(
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
    const image = await page.screenshot({ animations: 'disabled' })
    const webp = await webpOf(encoder, image)
    bytes += webp.length
    writeFileSync(`${FOLDER}/${picture.name}-${mode}.webp`, webp)
    if (png) writeFileSync(join(png, `${picture.name}-${mode}.png`), image)
  }
  await context.close()
  return bytes
}

const now = Date.now()
if (!executablePath) throw new Error('Chromium is not installed.')
mkdirSync(FOLDER, { recursive: true })
if (png) mkdirSync(png, { recursive: true })
const digest = pagesDigest()
await globalSetup()
const service = await startService()
const browser = await chromium.launch({ executablePath, args: ARGUMENTS })
try {
  for (const name of readdirSync(FOLDER)) rmSync(join(FOLDER, name))
  let bytes = 0
  for (const mode of MODES) bytes += await takeAll(browser, service.demo, mode, picturesAt(now))
  writeFileSync(DIGEST_FILE, `${digest}\n`)
  console.log(`${FOLDER}: ${Math.ceil(bytes / 1024)} KiB`)
} finally {
  await browser.close()
  await service.stop()
  globalTeardown()
}
