import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { bundleCommand } from './bundle.ts'
import { has } from './service.ts'
import { type Shared, shareService } from './shared-service.ts'

// Runs every command of the README and the guide, and compares the responses with those that they show.

const GUIDE = 'docs/guide'

/** A fenced code block and the line on which it starts. */
interface Block {
  tag: string
  text: string
  line: number
  /** Whether only empty lines separate it from the previous block. */
  follows: boolean
}

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
  assert.equal(open, null, 'a code block is not closed')
  return blocks
}

/** Returns a pattern in which an ellipsis stands for any text. */
const matching = (shown: string) =>
  new RegExp(
    `^${shown
      .split('…')
      .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('.*')}$`,
    's',
  )

/** Lists how a response differs from the one shown. Members that are not shown can have any value. */
function differences(shown: unknown, real: unknown, at = ''): string[] {
  if (typeof shown === 'string') {
    if (shown === '…') return real === undefined ? [`${at} is missing`] : []
    return typeof real === 'string' && matching(shown).test(real)
      ? []
      : [difference(at, shown, real)]
  }
  if (typeof shown !== 'object' || shown === null) {
    return shown === real ? [] : [difference(at, shown, real)]
  }
  if (typeof real !== 'object' || real === null) return [difference(at, shown, real)]
  if (Array.isArray(shown)) {
    if (!Array.isArray(real)) return [difference(at, shown, real)]
    const isOpen = shown.at(-1) === '…'
    const items = isOpen ? shown.slice(0, -1) : shown
    if (real.length < items.length || (!isOpen && real.length > items.length)) {
      return [difference(at, shown, real)]
    }
    return items.flatMap((item, i) => differences(item, real[i], `${at}/${i}`))
  }
  return Object.entries(shown).flatMap(([name, value]) =>
    name === '…'
      ? []
      : differences(value, (real as Record<string, unknown>)[name], `${at}/${name}`),
  )
}

const difference = (at: string, shown: unknown, real: unknown) =>
  `${at || '/'} is shown as ${JSON.stringify(shown)} but is ${JSON.stringify(real)}`

/** Returns the lines of a response that the guide shows but the command did not print. */
function missingLines(shown: string, printed: string): string[] {
  const lines = printed.split(/\r?\n/)
  return shown.split('\n').filter((line) => {
    const name = line.replace(/^[\w-]+:/, (found) => found.toLowerCase())
    return !lines.some((real) =>
      matching(name).test(real.replace(/^[\w-]+:/, (found) => found.toLowerCase())),
    )
  })
}

/** Returns the first line of a shown text that leaves out printed lines before it without an ellipsis. */
function unmarkedCut(shown: string, printed: string): string | null {
  const lines = printed.trimEnd().split(/\r?\n/)
  let next = 0
  let isCut = false
  for (const line of shown.split('\n')) {
    if (line === '…') {
      isCut = true
      continue
    }
    const found = lines.findIndex((real, i) => i >= next && matching(line).test(real))
    if (found < 0 || (found > next && !isCut)) return line
    next = found + 1
    isCut = false
  }
  return next < lines.length && !isCut ? (lines[next] ?? '') : null
}

const MARK = '\x1e'

/**
 * Runs the first `npm run` of the tests as it is written. Later ones run the same program from one file, which
 * starts in a tenth of the time.
 */
const NPM = `
npm() {
  if [[ $1 = run && $3 = -- && -f $2.mjs && -f npm.ran ]]; then "${process.execPath}" "$2.mjs" "\${@:4}"; return; fi
  touch npm.ran
  command npm "$@"
}`

/** Where Node keeps the programs that it has compiled, of setup.ts: each command starts faster. */
const { NODE_COMPILE_CACHE = '' } = process.env

/** Runs the commands of a page in one shell and returns the output of each block. */
function run(commands: readonly string[], env: Record<string, string>, cwd: string): string[] {
  const script = ['set -euo pipefail', NPM, ...commands.map((text) => `${text}\nprintf '\\x1e'`)]
  const printed = execFileSync('bash', ['-c', script.join('\n')], {
    cwd,
    env: { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return printed.split(MARK).slice(0, -1)
}

const skip = has('curl') && has('bash') ? false : 'curl or bash is not installed'

describe('the guide', { timeout: 600_000 }, () => {
  const names = readdirSync(GUIDE).filter((name) => name.endsWith('.md'))
  const pages = names.map((name) => ({
    name: name.replace(/\.md$/, ''),
    page: readFileSync(join(GUIDE, name), 'utf8'),
  }))

  let service: Shared
  before(async () => {
    service = await shareService('demo')
    for (const name of ['push', 'admin']) await bundleCommand(name, service.root)
  })
  after(() => service?.stop())

  /** Returns the variables that the commands use. */
  function variables() {
    const [forex, brand] = ['forex', 'igaming'].map(
      (vertical) => service.demo.accounts.find((account) => account.vertical === vertical)!,
    )
    return {
      BASE: service.demo.base_url,
      CLIENT_ID: forex!.client_id,
      CLIENT_SECRET: forex!.client_secret,
      BRAND_TOKEN: brand!.brand_token,
      LINK: `${service.demo.base_url}/go/${brand!.link_id}`,
    }
  }

  // The commands of the README come first: those of the guide work after them.
  test('README: every command works as pasted, and the responses are as shown', { skip }, () => {
    const blocks = blocksOf(readFileSync('README.md', 'utf8'))
    const shown = blocks.filter(({ tag }) => tag === 'json').map(({ text }) => JSON.parse(text))
    const commands = blocks.filter(({ tag, text }) => tag === 'sh' && !text.includes('npm ci'))
    const [customer = '', transaction = '', ...others] = commands.map(({ text }) => text)
    const corrected = transaction.replace('EUX', 'EUR')
    const [stored, refused, accepted, push = '', admin = '', ...more] = run(
      [customer, transaction, corrected, ...others],
      { ...variables(), HOME: service.root },
      service.root,
    )
    assert.equal(JSON.parse(stored!).results[0].outcome, 'created')
    assert.deepEqual(differences(shown, [JSON.parse(refused!), JSON.parse(accepted!)]), [])
    assert.match(push, /customers\.csv: 3 records, 3 created/)
    assert.match(push, /transactions\.ndjson: 3 records, 3 created/)
    assert.match(admin, /Acme Markets/)
    assert.deepEqual(more, [])
  })

  for (const { name, page } of pages) {
    test(`${name}: every command works and every response is as shown`, { skip }, () => {
      const blocks = blocksOf(page)
      const commands = blocks.filter(({ tag }) => tag === 'sh')
      const printed = run(
        commands.map(({ text }) => text),
        variables(),
        service.root,
      )
      for (const [i, { tag, text, line, follows }] of blocks.entries()) {
        const command = blocks[i - 1]
        if (command?.tag !== 'sh' || !follows) continue
        const answer = printed[commands.indexOf(command)]!
        const wrong =
          tag === 'json'
            ? differences(JSON.parse(text), JSON.parse(answer))
            : tag === 'http' || tag === 'text'
              ? missingLines(text.trim(), answer)
              : []
        assert.deepEqual(wrong, [], `${name}.md, line ${line}: ${answer}`)
        if (tag === 'text') assert.equal(unmarkedCut(text.trim(), answer), null, `${name}:${line}`)
      }
    })
  }

  test('every link leads to a page or heading of the guide, or to an address of the service', () => {
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
    const errors = readFileSync('src/platform/errors.ts', 'utf8')
    for (const { name, page } of pages) {
      for (const [, link = ''] of page.matchAll(/\]\(([^)\s]+)\)/g)) {
        const address = link.startsWith('#') ? `/docs/${name}${link}` : link
        const [, code] = /^\/docs\/errors#problem-(\w+)$/.exec(address) ?? []
        const isKnown =
          /^https:\/\//.test(address) ||
          ['/docs', '/openapi.json'].includes(address) ||
          addresses.has(address) ||
          existsSync(join(GUIDE, link)) ||
          (code !== undefined && errors.includes(`  ${code}: [`))
        assert.ok(isKnown, `${name}: ${address}`)
      }
    }
  })
})
