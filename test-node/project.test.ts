import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { parseEnv } from 'node:util'
import { unstable_readConfig } from 'wrangler'
import { readArguments } from '../scripts/admin/arguments.ts'
import { configOf } from '../scripts/config.ts'

// What the files beside the code say is true of the code.

const read = (path: string) => readFileSync(path, 'utf8')
const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
/** What git tracks, or would; null where this is no clone. */
const tracked =
  listed.status === 0 ? listed.stdout.split('\0').filter((path) => path && existsSync(path)) : null
const skip = tracked ? false : 'this is no git clone'

const manifest = JSON.parse(read('package.json')) as {
  version: string
  license: string
  workspaces: string[]
  scripts: Record<string, string>
  cloudflare: { bindings: Record<string, { description: string }> }
}
const config = unstable_readConfig({ config: 'wrangler.toml' })

/** Every name under which wrangler.toml gives the Worker something, of whatever kind. */
function bindingsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(bindingsOf)
  if (typeof value !== 'object' || value === null) return []
  const { binding } = value as { binding?: unknown }
  return [...(typeof binding === 'string' ? [binding] : []), ...bindingsOf(Object.values(value))]
}

test('the licence is MIT, in each package', () => {
  assert.match(read('LICENSE'), /^MIT License\n\nCopyright \(c\) 2026 Tributary\n\n/)
  for (const folder of ['.', ...manifest.workspaces]) {
    const { license } = JSON.parse(read(join(folder, 'package.json')))
    assert.equal(license, 'MIT', folder)
  }
})

describe('Deploy to Cloudflare', () => {
  const secrets = config.secrets?.required ?? []

  test('every variable, secret and binding is described, and nothing else', () => {
    const objects = configOf(undefined).durable_objects.bindings.map(({ name }) => name)
    const names = [...Object.keys(config.vars), ...secrets, ...objects, ...bindingsOf(config)]
    const { bindings } = manifest.cloudflare
    assert.deepEqual(Object.keys(bindings).sort(), [...new Set(names)].sort())
    for (const [name, { description }] of Object.entries(bindings))
      assert.match(description, /^[A-Z].{20,}\.$/, name)
  })

  test('the form asks for each secret, and suggests none', () => {
    const example = parseEnv(read('.dev.vars.example'))
    assert.deepEqual(Object.keys(example).sort(), [...secrets].sort())
    for (const value of Object.values(example)) assert.match(value ?? '', /^$|^{"keys":\[\]}$/)
  })

  const deploy = (variables: Record<string, string>, ...args: string[]) =>
    spawnSync(process.execPath, ['scripts/deploy.ts', ...args], {
      env: { PATH: '', ...variables },
      encoding: 'utf8',
    })

  test('the button deploys no service that is not https, and who types says which one', () => {
    const pressed = deploy({ WORKERS_CI: '1' })
    assert.equal(pressed.status, 1)
    assert.match(pressed.stderr, /^BASE_URL is http:\/\/127\.0\.0\.1:8787: set it /)
    const typed = deploy({})
    assert.equal(typed.status, 2)
    assert.equal(typed.stderr, 'Say which environment: npm run deploy -- --env staging\n')
  })
})

test('dependencies are looked at wherever there are any', () => {
  const said = read('.github/dependabot.yml')
  const entries = said.split(/^ {2}- /m).slice(1)
  const ecosystems = entries.map((entry) => {
    assert.match(entry, /^ {4}directory: \/$/m)
    assert.match(entry, /interval: weekly\n {4}groups:\n/)
    return /^package-ecosystem: (\S+)$/m.exec(entry)?.[1]
  })
  const found = [
    ...(existsSync('package-lock.json') ? ['npm'] : []),
    ...(globSync('.github/workflows/*.yml').length > 0 ? ['github-actions'] : []),
  ]
  assert.deepEqual(ecosystems, found)
  // A lock of its own would need an entry of its own.
  for (const folder of manifest.workspaces)
    assert.ok(!existsSync(join(folder, 'package-lock.json')), folder)
})

test('the changelog begins with the version of package.json', () => {
  const [, version] = /^## \[(.+?)\]/m.exec(read('CHANGELOG.md')) ?? []
  assert.equal(version, manifest.version)
})

describe('documents', { skip }, () => {
  /** The commands of wrangler, its groups of them among these. */
  const known = new Set(
    [
      ...read('node_modules/wrangler/wrangler-dist/cli.js').matchAll(
        /command: "wrangler ([^"]+)"/g,
      ),
    ].map(([, words = '']) => words),
  )
  const isGroup = (words: string) => [...known].some((one) => one.startsWith(`${words} `))

  /** Whether words begin with a command that can be run; operands may follow it. */
  function isCommand(words: string[]): boolean {
    const longest = words.findLastIndex((_, i) => known.has(words.slice(0, i + 1).join(' ')))
    return longest >= 0 && !isGroup(words.slice(0, longest + 1).join(' '))
  }

  const documents = (tracked ?? []).filter((path) => path.endsWith('.md'))
  const prose = (path: string) => read(path).replace(/^```[\s\S]*?^```/gm, '')

  /** The anchors of a document's headings, as code hosts make them. */
  const anchorsOf = (path: string) =>
    [...prose(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    )

  for (const path of documents) {
    test(`${path} links to what exists`, () => {
      for (const [, target = ''] of prose(path).matchAll(/\]\(([^)\s]+)\)/g)) {
        // What begins so is an address of the site, whose own test follows it.
        if (/^([a-z]+:|\/)/.test(target)) continue
        const [to, anchor] = target.split('#')
        const file = to ? join(dirname(path), to) : path
        assert.ok(existsSync(file), `${target} is not there`)
        if (anchor) assert.ok(anchorsOf(file).includes(anchor), `${target} has no such heading`)
      }
    })

    test(`${path} names only commands that there are`, () => {
      for (const [, name = ''] of read(path).matchAll(/npm run (?:-s )?([a-z][\w:-]*)/g))
        assert.ok(name in manifest.scripts, `npm run ${name}`)
      for (const [said, words = ''] of read(path).matchAll(/npx wrangler ((?:[a-z][\w-]* ?)+)/g))
        assert.ok(isCommand(words.trim().split(' ')), said)
      // As a shell takes them apart; what the command line refuses throws.
      for (const [, line = ''] of read(path).matchAll(/npm run (?:-s )?admin -- ([^`\n#]+)/g))
        readArguments((line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", '')))
    })
  }
})

describe('what git tracks', { skip }, () => {
  /**
   * What tells of one machine, or opens something, and belongs into no repository. This file is
   * looked at, too: its patterns are written so that they are not what they look for.
   */
  const FORBIDDEN: [what: string, form: RegExp][] = [
    ['a path of a machine', /(?<![\w.:/$}-])\/(?:root|home|Users|work|tmp|mnt)\/[\w.]/],
    ['a path of a machine', /\b[A-Z]:\\{1,2}Users\b|\bfile:\/\/\/\w/],
    ['the host of a registry', /\b(?:registry|npm|pypi)\.[a-z0-9-]+\.[a-z]{2,}\b/i],
    ['the host of a registry', /\b(?:art[i]factory|code[a]rtifact|ver[d]accio|j[f]rog)\b/i],
    ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
    ['a secret that is live', /\bt(?:cs|bt)_live_[0-9A-Za-z]{49}\b/],
  ]

  test('names no path of a machine, no registry and no secret', () => {
    const found = (tracked ?? [])
      .filter((path) => statSync(path).isFile())
      .flatMap((path) =>
        read(path)
          .split('\n')
          .flatMap((line, i) =>
            FORBIDDEN.flatMap(([what, form]) =>
              form.test(line) ? [`${path}:${i + 1} names ${what}`] : [],
            ),
          ),
      )
    assert.deepEqual(found, [])
  })

  test('holds no file that a run leaves behind', () => {
    const left = /(^|\/)(\.dev\.vars|\.demo\.json|\.env|\.npmrc|node_modules|\.wrangler)(\/|$)/
    assert.deepEqual(
      tracked?.filter((path) => left.test(path)),
      [],
    )
  })
})
