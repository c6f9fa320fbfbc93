import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { parseEnv } from 'node:util'
import { readArguments } from '../scripts/admin/arguments.ts'
import { skipWithoutGit, trackedFiles } from './tracked-files.ts'
import { readConfig } from './wrangler-config.ts'

// Checks the files beside the code: package.json, wrangler.toml, Markdown and what git tracks.

const read = (path: string) => readFileSync(path, 'utf8')
/** Returns a Markdown file without its code blocks. */
const proseOf = (path: string) => read(path).replace(/^```[\s\S]*?^```/gm, '')
const manifest = JSON.parse(read('package.json')) as {
  workspaces: string[]
  scripts: Record<string, string>
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
}

test('package.json declares every imported package, and the miniflare of wrangler', {
  skip: skipWithoutGit,
}, () => {
  const { dependencies, devDependencies } = manifest
  const declared = { ...dependencies, ...devDependencies }
  const files = trackedFiles!.filter(
    (path) => /\.tsx?$/.test(path) && !manifest.workspaces.some((one) => path.startsWith(one)),
  )
  const imported = files.flatMap((path) =>
    [...read(path).matchAll(/^(?:import|} from|export .*from)\b.*?'([\w@][^:']*)'$/gm)].map(
      ([, name = '']) => /^(?:@[^/]+\/)?[^/]+/.exec(name)![0],
    ),
  )
  assert.ok(imported.includes('miniflare'))
  assert.deepEqual(
    [...new Set(imported)].filter((name) => !Object.hasOwn(declared, name)),
    [],
  )
  const wrangler = JSON.parse(read('node_modules/wrangler/package.json'))
  assert.equal(declared.miniflare, wrangler.dependencies.miniflare)
})

describe('Deploy to Cloudflare', () => {
  const secrets = readConfig('.').secrets.required
  test('the form asks for each secret and suggests no value', () => {
    const example = parseEnv(read('.dev.vars.example'))
    assert.deepEqual(Object.keys(example).sort(), [...secrets].sort())
    for (const value of Object.values(example)) assert.match(value ?? '', /^$|^{"keys":\[\]}$/)
  })

  const deploy = (variables: Record<string, string>) =>
    spawnSync(process.execPath, ['scripts/deploy.ts'], {
      env: { PATH: '', ...variables },
      encoding: 'utf8',
    })

  test('the button requires an https BASE_URL and no placeholders; the command requires an environment', () => {
    const byButton = deploy({ WORKERS_CI: '1' })
    assert.deepEqual([byButton.status, byButton.stdout], [1, ''])
    const [address, database] = byButton.stderr.split('\n')
    assert.match(address ?? '', /^BASE_URL is http:\/\/127\.0\.0\.1:0\. Set it /)
    assert.match(database ?? '', /^The database_id of DB is a placeholder\. Remove it /)
    const byCommand = deploy({})
    assert.equal(byCommand.status, 2)
    assert.equal(byCommand.stderr, 'Name the environment: npm run deploy -- --env staging\n')
  })
})

test('what the deployment adds to an environment leaves the environments alike', () => {
  const blocks = [...read('docs/deployment.md').matchAll(/```toml\n([\s\S]*?)```/g)]
  const added = blocks.map(([, block = '']) => block.replace(/^ +/gm, ''))
  assert.ok(added.length > 2)
  const cwd = mkdtempSync(join(tmpdir(), 'config-'))
  writeFileSync(join(cwd, 'wrangler.toml'), [read('wrangler.toml'), ...added].join('\n'))
  const script = resolve('scripts/check-config.ts')
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
})

describe('documents', { skip: skipWithoutGit }, () => {
  /** All wrangler commands, including groups such as `d1 migrations`. */
  const known = new Set(
    [
      ...read('node_modules/wrangler/wrangler-dist/cli.js').matchAll(
        /command: "wrangler ([^"]+)"/g,
      ),
    ].map(([, words = '']) => words),
  )
  const isGroup = (words: string) => [...known].some((one) => one.startsWith(`${words} `))

  /** Returns whether words start with a wrangler command that is not a group. Operands may follow. */
  function isCommand(words: string[]): boolean {
    const longest = words.findLastIndex((_, i) => known.has(words.slice(0, i + 1).join(' ')))
    return longest >= 0 && !isGroup(words.slice(0, longest + 1).join(' '))
  }

  const documents = (trackedFiles ?? []).filter((path) => path.endsWith('.md'))
  /** Returns the anchors of a page's headings, in the form that GitHub generates. */
  const anchorsOf = (path: string) =>
    [...proseOf(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    )

  for (const path of documents) {
    test(`${path}: every relative link resolves`, () => {
      for (const [, target = ''] of proseOf(path).matchAll(/\]\(([^)\s]+)\)/g)) {
        // External addresses are not checked; guide.test.ts checks those of the site.
        if (/^([a-z]+:|\/)/.test(target)) continue
        const [to, anchor] = target.split('#')
        const file = to ? join(dirname(path), to) : path
        assert.ok(existsSync(file), `${target} does not exist`)
        if (anchor)
          assert.ok(anchorsOf(file).includes(anchor), `${target}: no heading has this anchor`)
      }
    })
  }

  const workflows = (trackedFiles ?? []).filter((path) => path.startsWith('.github/workflows/'))
  for (const path of [...documents, ...workflows]) {
    test(`${path} names only commands that exist`, () => {
      for (const [, name = ''] of read(path).matchAll(/npm run (?:-s )?([a-z][\w:-]*)/g))
        assert.ok(name in manifest.scripts, `npm run ${name}`)
      for (const [command, words = ''] of read(path).matchAll(/npx wrangler ((?:[a-z][\w-]* ?)+)/g))
        assert.ok(isCommand(words.trim().split(' ')), command)
      // Joins and splits lines as a shell does, up to a redirection. `readArguments` throws if it does not
      // accept the command.
      const joined = read(path).replaceAll('\\\n', '')
      for (const [, line = ''] of joined.matchAll(/npm run (?:-s )?admin -- ([^`\n#>]+)/g))
        readArguments((line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", '')))
    })
  }
})

describe('what git tracks', { skip: skipWithoutGit }, () => {
  /**
   * Text that belongs to one machine or grants access, and must not be in a repository. The test
   * reads this file, too, so no pattern matches its own source.
   */
  const FORBIDDEN: [what: string, form: RegExp][] = [
    ['a local path', /(?<![\w.:/$}-])\/(?:root|home|Users|work|tmp|mnt)\/[\w.]/],
    ['a local path', /\b[A-Z]:\\{1,2}Users\b|\bfile:\/\/\/\w/],
    ['the host of a package registry', /\b(?:registry|npm|pypi)\.[a-z0-9-]+\.[a-z]{2,}\b/i],
    ['the host of a package registry', /\b(?:art[i]factory|code[a]rtifact|ver[d]accio|j[f]rog)\b/i],
    ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
    ['a live secret', /\bt(?:cs|bt)_live_[0-9A-Za-z]{49}\b/],
  ]

  test('contains no local path, registry host or secret', () => {
    const found = (trackedFiles ?? [])
      .filter((path) => statSync(path).isFile())
      .flatMap((path) =>
        read(path)
          .split('\n')
          .flatMap((line, i) =>
            FORBIDDEN.flatMap(([what, form]) =>
              form.test(line) ? [`${path}:${i + 1} contains ${what}`] : [],
            ),
          ),
      )
    assert.deepEqual(found, [])
  })

  test('contains no file that a run creates', () => {
    const left = /(^|\/)(\.dev\.vars|\.demo\.json|\.env|node_modules|\.wrangler)(\/|$)/
    assert.deepEqual(
      trackedFiles?.filter((path) => left.test(path)),
      [],
    )
  })
})
