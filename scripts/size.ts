import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { gzipSync } from 'node:zlib'
import { bundleService } from './bundle.ts'
import { parseCommand } from './command-line.ts'

const { check } = parseCommand(
  'node scripts/size.ts',
  `Prints how large the project is. A code line is neither blank nor comment. Counted is every text file
in git, and new ones that git does not ignore, but Markdown, the lock file, the licence, published data and message catalogues.`,
  (command) => command.option('--check', 'exit with 1 if a number is above budget.json'),
).opts<{ check?: true }>()

/**
 * Files that are no code: published data, message catalogues, recorded answers, and what cannot be read as lines.
 */
const NOT_COUNTED =
  /^(budget\.json|package-lock\.json|LICENSE|src\/data\/.*|test\/recorded\/.*|src\/catalogues\/.*)$|\.(png|webp|svg|xsd)$/

/** Where a file counts, by the beginning of its path. What fits nowhere is `other`. */
const ROOMS = {
  derived: /^(schemas\/|src\/worker-configuration\.d\.ts)/,
  src: /^src\//,
  tests: /^test(-node)?\//,
  tools: /^(scripts|chaos|bench|examples)\//,
  other: /^/,
}

/** How a line that is only a comment begins, by the extension of its file. */
const COMMENTS: Record<string, RegExp> = {
  '.sql': /^--/,
  '.json': /^\/\//,
  '.txt': /^$/,
  '': /^#/,
  '.sh': /^#/,
  '.py': /^#/,
  '.toml': /^#/,
  '.yml': /^#/,
  '.yaml': /^#/,
}
const SLASHES = /^(\/\/|\/\*|\*|\{\/\*)/

/** Returns the number of lines of a file that are neither blank nor comment. */
function codeLines(path: string): number {
  const comment = COMMENTS[extname(path)] ?? SLASHES
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter((line) => line.trim() !== '' && !comment.test(line.trim())).length
}

const LISTED = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate']
const files = execFileSync('git', LISTED, { encoding: 'utf8' })
  .split('\0')
  .filter((path) => path !== '' && existsSync(path))
const { scripts, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
const markdown = files.filter((path) => path.endsWith('.md'))
const counted = files.filter((path) => !markdown.includes(path) && !NOT_COUNTED.test(path))

const size: Record<string, number> = Object.fromEntries(Object.keys(ROOMS).map((room) => [room, 0]))
for (const path of counted) {
  const [room] = Object.entries(ROOMS).find(([, begins]) => begins.test(path))!
  size[room]! += codeLines(path)
}
size.markdown = markdown.reduce(
  (sum, path) => sum + readFileSync(path, 'utf8').split('\n').length - 1,
  0,
)
size.files = files.length
size.migrations = files.filter((path) => path.startsWith('migrations/')).length
size.pictures = files.filter((path) => /\.(png|webp)$/.test(path)).length
size.npmScripts = Object.keys(scripts).length
size.devDependencies = Object.keys(devDependencies).length
size.workerKiB = Math.ceil(gzipSync(await bundleService()).byteLength / 1024)

const budget = JSON.parse(readFileSync('budget.json', 'utf8')) as Record<string, number>
const above: string[] = []
for (const [name, value] of Object.entries(size)) {
  const limit = budget[name] ?? Number.POSITIVE_INFINITY
  if (value > limit) above.push(name)
  const verdict = value > limit ? '  above the budget' : ''
  console.log(
    `${name.padEnd(16)} ${String(value).padStart(7)} of ${String(limit).padStart(7)}${verdict}`,
  )
}
if (check && above.length > 0) {
  console.error(
    `Above budget.json: ${above.join(', ')}. Take something away, or raise the number in the same commit and say why: see \`Size\` in CONTRIBUTING.md.`,
  )
  process.exitCode = 1
}
