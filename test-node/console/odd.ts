import assert from 'node:assert/strict'
import { test } from 'node:test'
import { skip } from '../browser/chromium.ts'
import { findingsOf, windowsOf } from '../browser/findings.ts'
import { CHARTS_DRAWN } from '../browser/page.ts'
import { demoCase } from './demo-case.ts'
import { openSignedIn, type Shared, SIGN_IN } from './frame.ts'
import { BRAND, createOddAccounts, FIRM, ODD, PERIOD } from './odd-data.ts'
import { pageAddresses, pagePaths } from './pages.ts'
import { sendRefused } from './refused.ts'

// What a member must never see, on any page, whatever the data is.

/** What no text of a page has. Only the text in `pre` is JSON on purpose: what a sender saw. */
export const NEVER = {
  'a raw escape': /\\u[\da-f]{4}/i,
  undefined: /\bundefined\b/,
  null: /\bnull\b/,
  'an object': /\[object/,
  'no number': /\bNaN\b|\bInfinity\b/,
  'a JSON pointer': /(?:^|\s)\/(?:\d+|\*)(?:\/\w+)+|^\/[a-z_]+(?:\/\w+)*$/,
  'an ISO instant': /\d{4}-\d\d-\d\dT\d\d:\d\d/,
  JSON: /\{"|\[\{|":/,
  'a name of the API': /\b(?!(?:stm|dlv|whk|lin|run|evt|tcs|tbt|c)_)[a-z]+(?:_[a-z]+)+\b/,
  'a backtick': /`/,
  'a period as programs write it': /(?<![\w-])\d{4}-(?:W\d\d|(?:0[1-9]|1[0-2]))(?![\w-])/,
  'a command': /\bnpm run\b/,
  // The console itself writes only isolates (U+2068, U+2069) and the em spaces of the tree.
  'an invisible character': /[\u00a0\u200b\u202a-\u202e\u2066\u2067\u3164\ufeff]/,
} as const

/** What `code` has as engineers need it: addresses, and the ids of clients and tokens. */
const FOR_ENGINEERS = /^(?:https?:\/\/\S+|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/

/** Pages that show more with the twelve months of `demo-broker`. */
const YEAR_PAGES = [
  '',
  '/statements',
  '/affiliates/IB-4',
  '/plans/ib-standard?edit=next',
  '/reports?from=2026-01-01&to=2026-06-30&group_by=month&currency=EUR',
]

/** Pages of an account that show nothing a sender or a member has named. */
const WITHOUT_NAMES = /\/(?:fraud-rules|rates|account|credentials|questions|cases|held)(?:\/|$)/

/** Records where charts write labels, and whether they fit into their canvas. */
export const WATCH_LABELS = `
  globalThis.cutLabels = []
  const { fillText } = CanvasRenderingContext2D.prototype
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const { width } = this.measureText(text)
    const left = x - { center: width / 2, right: width, end: width }[this.textAlign] || x
    if (left < -1 || left + width > this.canvas.width + 1) cutLabels.push(text)
    return fillText.call(this, text, x, y)
  }
`

/** Returns the texts of the page, and those that are cut off. */
export const READ_TEXTS = `
  (async () => {
    ${CHARTS_DRAWN}
    for (const one of document.querySelectorAll('main details')) one.open = true
    const [texts, codes] = [[document.title], []]
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const { parentElement: parent, data } = walker.currentNode
      if (data.trim() === '' || parent.closest('pre, script, textarea')) continue
      if (parent.closest('code')) codes.push(data)
      else texts.push(data)
    }
    for (const name of ['title', 'placeholder', 'aria-label', 'data-title'])
      for (const one of document.querySelectorAll('[' + name + ']')) texts.push(one.getAttribute(name))
    // The labels of charts are drawn: WATCH_LABELS measures them.
    const isCut = (one) => {
      const { overflowX, overflowY } = getComputedStyle(one)
      const hides = (overflow) => /hidden|clip/.test(overflow)
      return one.clientWidth > 1 && one.textContent.trim() !== '' &&
        (hides(overflowX) && one.scrollWidth > one.clientWidth + 1 ||
          hides(overflowY) && one.scrollHeight > one.clientHeight + 1)
    }
    const isOutside = (text) => {
      const [inner, outer] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()]
      return inner.left < outer.left - 1 || inner.right > outer.right + 1
    }
    const cut = [
      ...[...document.querySelectorAll('body *')].filter(
        (one) => !one.closest('.plot') && one.checkVisibility() && isCut(one),
      ),
      ...[...document.querySelectorAll('svg text')].filter(isOutside),
    ].map(({ textContent }) => textContent.trim().slice(0, 60))
    return { texts, codes, cut: [...cut, ...cutLabels], width: document.documentElement.scrollWidth }
  })()
`

/** What a person sees of a page. */
export interface Shown {
  readonly texts: readonly string[]
  /** The texts in `code`: only addresses and ids are there as programs write them. */
  readonly codes: readonly string[]
  readonly cut: readonly string[]
  readonly width: number
}

/** Returns the addresses of all pages with the odd accounts. Each page of an id is opened for the next odd id. */
async function oddAddresses(ids: Readonly<Record<string, string>>): Promise<string[]> {
  const at = `/console/accounts/${FIRM}`
  const period = `period=${PERIOD}`
  const fill = (path: string, text: string) =>
    `/console${path}`
      .replace(':account', FIRM)
      .replace(/:(\w+)/g, (_, name) => encodeURIComponent(ids[name.replace('_id', '')] ?? text))
  // From the end on, and the searches from the beginning: each odd id is in an address.
  let next = ODD.length
  const named = (await pagePaths()).filter((path) => !WITHOUT_NAMES.test(path))
  const pages = named.map((path) =>
    fill(path, /:(?:affiliate_id|customer_id)/.test(path) ? (ODD[--next] ?? '') : ''),
  )
  const searches = ODD.slice(0, next).map((text, i) => {
    const search = ['deliveries?record_id', 'find?record_id', 'customers?customer_id'][i % 3]
    return `${at}/${search}=${encodeURIComponent(text)}`
  })
  return [
    ...pages,
    ...searches,
    `${at}/deliveries?outcome=refused`,
    `${at}/paid`,
    `${at}/statements?${period}&run=${ids.run}`,
    `${at}/statements?plan=${ids.plan}&${period}`,
    `${at}/unearned?${period}`,
    `${at}/unearned?${period}&list=records`,
    `${at}/lines/${ids.line}?customer_id=${encodeURIComponent(ODD[1])}`,
    `${at}/customers/${encodeURIComponent(ODD[1])}?${period}`,
    `${at}/reports?from=2026-03-01&to=2026-03-31&group_by=affiliate_id`,
    `${at}/reports?from=2026-03-01&to=2026-03-31&group_by=day,affiliate_id&metrics=deposit_count`,
    `${at}/links?link_id=${ids.link}`,
    `${at}/nowhere`,
    `${at}/statements?period=2026-13`,
    `${at}/deliveries?outcome=x&from=2026-02-30`,
    `${at}/reports?from=2026-03-31&to=2026-03-01&metrics=deposit_count`,
    ...YEAR_PAGES.map((page) => `/console/accounts/demo-broker${page}`),
    ...['', '/mappings', '/affiliates', '/audit-log'].map(
      (page) => `/console/accounts/${BRAND}${page}`,
    ),
    `/console/accounts/${BRAND}/mappings?eventname=${encodeURIComponent(ODD[4])}`,
  ]
}

/** Returns the id of the latest delivery with refused records. */
async function refusedDelivery({ base, key }: Shared): Promise<string> {
  const url = `${base}/admin/v1/accounts/demo-forex/deliveries?outcome=refused&per_page=1`
  const answer = await fetch(url, { headers: { Authorization: `Bearer ${key}` } })
  const { data } = (await answer.json()) as { data: { delivery_id: string }[] }
  assert.ok(data[0])
  return data[0].delivery_id
}

/** Creates a webhook that is sent nothing, and returns its id. */
async function newWebhook({ base, key }: Shared): Promise<string> {
  const answer = await fetch(`${base}/admin/v1/accounts/demo-forex/webhooks`, {
    method: 'POST',
    body: JSON.stringify({ url: 'http://127.0.0.1:9/', events: ['feed.late'] }),
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
  })
  return ((await answer.json()) as { id: string }).id
}

/** Asks a question about a statement of the demo account, and returns its id. */
async function newQuestion({ base, key }: Shared): Promise<string> {
  const at = `${base}/admin/v1/accounts/demo-forex`
  const team = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const made = await fetch(`${at}/affiliates/IB-07/keys`, {
    ...{ method: 'POST', headers: team },
    body: JSON.stringify({ name: 'Questions', scope: 'read links' }),
  })
  const { affiliate_key, id } = (await made.json()) as { affiliate_key: string; id: string }
  const response = await fetch(`${base}/affiliate/v1/questions`, {
    ...{ method: 'POST', headers: { ...team, Authorization: `Bearer ${affiliate_key}` } },
    body: JSON.stringify({ statement: 'stm_06d9848e0c96f1d466c5108e', text: 'Why is it less?' }),
  })
  await fetch(`${at}/affiliates/IB-07/keys/${id}`, { method: 'DELETE', headers: team })
  const question = (await response.json()) as { id: string }
  assert.ok(question.id)
  return question.id
}

/** Defines the test that opens every page, with the demo's data and with odd data. */
export function oddTests(shared: () => Shared): void {
  test('axe finds nothing on any page, and none shows what only programs read, or cuts a text, whatever the data is', {
    skip,
  }, async () => {
    const { browser, demo } = shared()
    const page = await browser.newPage()
    await page.addInitScript(WATCH_LABELS)
    const own = { ...shared(), page }
    await sendRefused(demo, ['T-refused-1'])
    const demoAddresses = await pageAddresses({
      delivery_id: await refusedDelivery(own),
      webhook_id: await newWebhook(own),
      case_id: (await demoCase(own)).case_id,
      question_id: await newQuestion(own),
    })
    const odd = await oddAddresses(await createOddAccounts(own))
    const found: string[] = []
    for (const [i, address] of [SIGN_IN, ...demoAddresses, ...odd].entries()) {
      const note = (what: string) => found.push(`${address}: ${what}`)
      const isOdd = i > demoAddresses.length
      // A page is laid out for the second window without being loaded again. Odd data is seen in one of both.
      for (const [k, viewport] of windowsOf(i)
        .slice(0, isOdd ? 1 : 2)
        .entries()) {
        if (k === 0 && i > 0) await openSignedIn(own, address, viewport)
        await page.setViewportSize(viewport)
        if (k === 0 && i === 0) await page.goto(own.base + address)
        // Charts are drawn anew before the next frame.
        if (k > 0) await page.evaluate('new Promise(requestAnimationFrame)')
        const { texts, codes, cut, width } = await page.evaluate<Shown>(READ_TEXTS)
        for (const text of cut) note(`is cut at ${viewport.width} px: ${text}`)
        if (width > viewport.width) note(`is ${width} pixels wide at ${viewport.width} px`)
        if (k > 0) continue
        for (const [name, pattern] of Object.entries(NEVER)) {
          const text = [...texts, ...codes.filter((one) => !FOR_ENGINEERS.test(one))].find((one) =>
            pattern.test(one),
          )
          if (text) note(`${name}: ${JSON.stringify(text.slice(0, 120))}`)
        }
      }
      if (!isOdd) for (const finding of await findingsOf(page)) note(finding)
    }
    await page.close()
    assert.deepEqual(found, [])
  })
}
