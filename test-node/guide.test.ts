import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { has, startService } from './service.ts'

// What the guide shows is what the service does: its commands are run, its answers compared.

const GUIDE = 'docs/guide'

/** A fenced block, and the line of its page on which it begins. */
interface Block {
  tag: string
  text: string
  line: number
  /** Whether nothing but empty lines is between it and the block before. */
  follows: boolean
}

const TAGS = ['sh', 'json', 'http', 'text']

function blocksOf(page: string): Block[] {
  const blocks: Block[] = []
  let open: Block | null = null
  let follows = false
  for (const [i, line] of page.split('\n').entries()) {
    if (open && line === '```') {
      blocks.push(open)
      open = null
      follows = true
    } else if (open) open.text += `${line}\n`
    else if (line.startsWith('```')) open = { tag: line.slice(3), text: '', line: i + 1, follows }
    else if (line.trim() !== '') follows = false
  }
  assert.equal(open, null, 'a block is not closed')
  return blocks
}

/** The guide shows what is missing; before six (UTC) it is not yet due. */
const dueIn = (answer: string) =>
  new Date().getUTCHours() < 6
    ? answer.replace('"yesterday":"pending"', '"yesterday":"missing"')
    : answer

/** Any text is meant by an ellipsis. */
const matching = (shown: string) =>
  new RegExp(
    `^${shown
      .split('…')
      .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('.*')}$`,
    's',
  )

/** What of an answer is not as it is shown; members that are not shown may be anything. */
function differences(shown: unknown, real: unknown, at = ''): string[] {
  if (typeof shown === 'string') {
    if (shown === '…') return real === undefined ? [`${at} is not there`] : []
    return typeof real === 'string' && matching(shown).test(real) ? [] : [said(at, shown, real)]
  }
  if (typeof shown !== 'object' || shown === null) {
    return shown === real ? [] : [said(at, shown, real)]
  }
  if (typeof real !== 'object' || real === null) return [said(at, shown, real)]
  if (Array.isArray(shown)) {
    if (!Array.isArray(real)) return [said(at, shown, real)]
    const isOpen = shown.at(-1) === '…'
    const items = isOpen ? shown.slice(0, -1) : shown
    if (real.length < items.length || (!isOpen && real.length > items.length)) {
      return [said(at, shown, real)]
    }
    return items.flatMap((item, i) => differences(item, real[i], `${at}/${i}`))
  }
  return Object.entries(shown).flatMap(([name, value]) =>
    name === '…'
      ? []
      : differences(value, (real as Record<string, unknown>)[name], `${at}/${name}`),
  )
}

const said = (at: string, shown: unknown, real: unknown) =>
  `${at || '/'} is shown as ${JSON.stringify(shown)}, and is ${JSON.stringify(real)}`

/** The lines of an HTTP answer that are shown, but are not in what was printed. */
function missingLines(shown: string, printed: string): string[] {
  const lines = printed.split(/\r?\n/)
  return shown.split('\n').filter((line) => {
    const name = line.replace(/^[\w-]+:/, (found) => found.toLowerCase())
    return !lines.some((real) =>
      matching(name).test(real.replace(/^[\w-]+:/, (found) => found.toLowerCase())),
    )
  })
}

const MARK = '\x1e'

/** Runs the commands of a page, from top to bottom in one shell; what each block printed. */
function run(commands: readonly string[], env: Record<string, string>): string[] {
  const script = ['set -euo pipefail', ...commands.map((text) => `${text}\nprintf '\\x1e'`)]
  const printed = execFileSync('bash', ['-c', script.join('\n')], {
    env: { PATH: process.env.PATH ?? '', ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return printed.split(MARK).slice(0, -1)
}

const skip = has('curl') && has('bash') ? false : 'there is no curl or bash here'

describe('the guide', { timeout: 300_000 }, () => {
  const names = readdirSync(GUIDE).filter((name) => name.endsWith('.md'))
  const pages = names.map((name) => ({
    name: name.replace(/\.md$/, ''),
    page: readFileSync(join(GUIDE, name), 'utf8'),
  }))

  let service: Awaited<ReturnType<typeof startService>>
  before(async () => {
    service = await startService()
  })
  after(() => service?.stop())

  for (const { name, page } of pages) {
    test(`${name}: every command works, every answer is as shown`, { skip }, () => {
      const [forex, brand] = ['forex', 'igaming'].map(
        (vertical) => service.demo.accounts.find((account) => account.vertical === vertical)!,
      )
      const env = {
        BASE: service.demo.base_url,
        CLIENT_ID: forex!.client_id,
        CLIENT_SECRET: forex!.client_secret,
        BRAND_TOKEN: brand!.brand_token,
        LINK: `${service.demo.base_url}/go/${brand!.link_id}`,
      }
      const blocks = blocksOf(page)
      const commands = blocks.filter(({ tag }) => tag === 'sh')
      const printed = run(
        commands.map(({ text }) => text),
        env,
      )
      for (const [i, { tag, text, line, follows }] of blocks.entries()) {
        const command = blocks[i - 1]
        if (command?.tag !== 'sh' || !follows) continue
        const answer = printed[commands.indexOf(command)]!
        const wrong =
          tag === 'json'
            ? differences(JSON.parse(text), JSON.parse(dueIn(answer)))
            : tag === 'http'
              ? missingLines(text.trim(), answer)
              : []
        assert.deepEqual(wrong, [], `${name}.md, line ${line}: ${answer}`)
      }
    })
  }

  test('a page has a title, a paragraph of its own, known blocks and short lines', () => {
    for (const { name, page } of pages) {
      assert.match(page, /^# \S[^\n]*\n\n[^\n#`<|-]/, name)
      for (const { tag, line } of blocksOf(page)) assert.ok(TAGS.includes(tag), `${name}:${line}`)
      for (const line of page.split('\n')) {
        assert.ok(
          line.length <= 100 || line.startsWith('|') || line.startsWith('{'),
          `${name}: ${line}`,
        )
      }
    }
  })

  test('every link leads to a page of the guide, a heading there, or an address of the service', () => {
    const anchor = (heading: string) =>
      heading
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .trim()
        .replace(/\s+/g, '-')
    const addresses = new Set(
      pages.flatMap(({ name, page }) => [
        `/docs/${name}`,
        ...[...page.matchAll(/^#+ (.+)$/gm)].map(([, title]) => `/docs/${name}#${anchor(title!)}`),
      ]),
    )
    const errors = readFileSync('src/errors.ts', 'utf8')
    for (const { name, page } of pages) {
      for (const [, link = ''] of page.matchAll(/\]\(([^)\s]+)\)/g)) {
        const address = link.startsWith('#') ? `/docs/${name}${link}` : link
        const [, code] = /^\/problems\/(\w+)$/.exec(address) ?? []
        const isKnown =
          /^https:\/\//.test(address) ||
          ['/docs', '/openapi.json'].includes(address) ||
          (code === undefined ? addresses.has(address) : errors.includes(`  ${code}: [`))
        assert.ok(isKnown, `${name}: ${address}`)
      }
    }
  })
})
