import { writeFileSync } from 'node:fs'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { ARGUMENTS, executablePath } from '../test-node/browser/chromium.ts'
import { sendKey } from '../test-node/console/frame.ts'
import { askTeam, joinPortal } from '../test-node/portal/member.ts'
import { startService } from '../test-node/service.ts'
import { globalSetup, globalTeardown } from '../test-node/setup.ts'

// Takes the pictures of the documents anew, with the demo account `demo-broker`: `node scripts/pictures.ts`.

if (!executablePath) throw new Error('Chromium is not installed.')
const now = new Date()
const lastMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)).toISOString()
const ACCOUNT = '/console/accounts/demo-broker'
const STATEMENTS = `${ACCOUNT}/statements?period=${lastMonth.slice(0, 7)}`

/** The pictures by their files: where each begins, and what leads to what it shows. */
const CONSOLE: Record<string, readonly [address: string, click?: string]> = {
  overview: [ACCOUNT],
  statement: [STATEMENTS, 'a[href*="/statements/stm_"]'],
  'plan-editor': [`${ACCOUNT}/plans/ib-standard`, 'summary, a[href*="edit"]'],
  case: [`${ACCOUNT}/cases`, 'a[href*="/cases/case_"]'],
}
const PORTAL: typeof CONSOLE = { overview: [''], statement: ['/statements', 'tbody a'] }

/** Takes a picture of each page, and writes it as WebP. */
async function take(page: Page, base: string, pictures: typeof CONSOLE, path: string) {
  const browser = await page.context().newCDPSession(page)
  for (const [name, [address, click]] of Object.entries(pictures)) {
    await page.goto(base + address)
    if (click) await page.locator('main').locator(click).first().click()
    await page.waitForLoadState('networkidle')
    const format = { format: 'webp', quality: 80 } as const
    const { data } = await browser.send('Page.captureScreenshot', format)
    writeFileSync(path.replace('*', name), Buffer.from(data, 'base64'))
  }
}

async function signIn({ base_url, admin_key }: Demo, context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  await page.goto(`${base_url}/console/sign-in`)
  await sendKey(page, admin_key)
  await page.waitForURL(/\/console$/)
  return page
}

await globalSetup()
const service = await startService()
type Demo = typeof service.demo
const browser = await chromium.launch({ executablePath, args: ARGUMENTS })
try {
  const desktop = { viewport: { width: 1280, height: 1000 }, deviceScaleFactor: 1.25 }
  const console = await signIn(service.demo, await browser.newContext(desktop))
  await take(console, service.demo.base_url, CONSOLE, 'docs/console/*-light.webp')
  const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 }
  const context = await browser.newContext(phone)
  const page = await context.newPage()
  const team = { base: service.demo.base_url, key: service.demo.admin_key }
  await askTeam(team, '', 'PATCH', { landing_pages: ['https://broker.example/start'] })
  await take(page, await joinPortal(team, context, page), PORTAL, 'docs/portal/*.webp')
} finally {
  await browser.close()
  await service.stop()
  globalTeardown()
}
