import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { ARGUMENTS, executablePath } from '../test-node/browser/chromium.ts'
import { globalSetup, globalTeardown } from '../test-node/setup.ts'
import { readOptions } from './command-line.ts'
import { DAYS, dayBefore } from './screenshots/records.ts'
import { startBroker } from './screenshots/service.ts'

const { png } = readOptions<{ png?: string }>(
  'node scripts/screenshots.ts',
  'Writes pictures of the console into docs/console. Needs Chromium.',
  (command) => command.option('--png <folder>', 'also writes them as PNG files into this folder'),
)

const FOLDER = 'docs/console'
const ACCOUNT = '/console/accounts/demo-forex'
const STATEMENT = `${ACCOUNT}/statements/stm_06d9848e0c96f1d466c5108e`
const DESKTOP = { width: 1280, height: 1000 }
const PHONE = { width: 390, height: 844 }

/** How each page is photographed. */
const MODES = [
  { mode: 'light', colorScheme: 'light', viewport: DESKTOP, scale: 1.25 },
  { mode: 'dark', colorScheme: 'dark', viewport: DESKTOP, scale: 1.25 },
  { mode: 'phone', colorScheme: 'light', viewport: PHONE, scale: 2 },
] as const

/** The part of WebP's quality scale from 0 to 1 at which small text stays sharp. */
const QUALITY = 0.8

interface Picture {
  readonly name: string
  readonly address: string
  /** The link of the page that leads to what the picture shows. */
  readonly click?: string
}

/** Returns what the pictures show. `now` is in milliseconds. */
function picturesAt(now: number): Picture[] {
  const days = { from: dayBefore(now, DAYS), to: dayBefore(now, 1) }
  const report = {
    ...days,
    currency: 'EUR',
    group_by: 'day',
    metrics: 'deposit_amount,spread_cost,commission_charged',
  }
  return [
    { name: 'overview', address: ACCOUNT },
    {
      name: 'delivery',
      address: `${ACCOUNT}/deliveries?status=refused`,
      click: 'a[href*="/deliveries/dlv_"]',
    },
    { name: 'statement', address: STATEMENT },
    { name: 'line', address: STATEMENT, click: 'td a:has-text("102.00 EUR")' },
    { name: 'simulation', address: `${ACCOUNT}/plans/demo-ib/simulate` },
    { name: 'reports', address: `${ACCOUNT}/reports?${new URLSearchParams(report)}` },
  ]
}

/** Opens what a picture shows, and waits until its chart is drawn. */
async function open(page: Page, base: string, { name, address, click }: Picture): Promise<void> {
  await page.goto(base + address)
  if (name === 'simulation') await simulate(page)
  // The names of all metrics are longer than a screen.
  if (name === 'reports') await page.locator('summary', { hasText: /^Metrics/ }).click()
  if (click) {
    await page.locator('main').locator(click).first().click()
    await page.waitForURL((url) => url.href !== base + address)
  }
  for (const plot of await page.locator('.plot').all()) await plot.locator('canvas').waitFor()
}

/** Simulates 35 % in place of 30 %. */
async function simulate(page: Page): Promise<void> {
  const terms = page.getByLabel('Terms as JSON')
  await terms.fill((await terms.inputValue()).replace('"percent": "30"', '"percent": "35"'))
  await page.getByLabel('Period', { exact: true }).fill('2026-03')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByRole('table', { name: /^Affiliates that change/ }).waitFor()
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
await globalSetup()
const broker = await startBroker(now)
const browser = await chromium.launch({ executablePath, args: ARGUMENTS })
try {
  let bytes = 0
  for (const mode of MODES) bytes += await takeAll(browser, broker.demo, mode, picturesAt(now))
  console.log(`${FOLDER}: ${Math.ceil(bytes / 1024)} KiB`)
} finally {
  await browser.close()
  await broker.stop()
  globalTeardown()
}
