import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

// What a change does to the operations, for its review: openapi.json is not in git.

type Json = Record<string, unknown>

interface Document {
  paths: Record<string, Record<string, Json>>
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** Returns the document of a commit, made by the code of that commit. */
function documentAt(commit: string): Document {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-openapi-'))
  const run = (program: string, args: string[], cwd = '.') =>
    execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    run('git', ['worktree', 'add', '--quiet', '--detach', folder, commit])
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
    run(process.execPath, ['scripts/generate.ts'], folder)
    return JSON.parse(readFileSync(join(folder, 'openapi.json'), 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
    run('git', ['worktree', 'prune'])
  }
}

/** Replaces references by what they refer to. Examples are left out. */
function resolved(document: Document, value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) return value.map((one) => resolved(document, one, depth + 1))
  if (!isObject(value)) return value
  const { $ref, examples: _, ...members } = value
  const own = Object.fromEntries(
    Object.entries(members).map(([name, one]) => [name, resolved(document, one, depth + 1)]),
  )
  // A schema that contains itself is followed as deep as no answer is.
  if (typeof $ref !== 'string' || depth > 40) return own
  const at = $ref.slice(2).split('/')
  const found = at.reduce<unknown>((one, name) => isObject(one) && one[name], document)
  return { ...(resolved(document, found, depth + 1) as Json), ...own }
}

/** Returns each operation by its name, with its parameters by theirs. */
function operationsOf(document: Document): Map<string, Json> {
  const found = new Map<string, Json>()
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const { parameters = [], ...rest } = resolved(document, operation) as Json
      const named = (parameters as Json[]).map((one) => [`${one.in} ${one.name}`, one])
      const whole = { at: `${method} ${path}`, ...rest, parameters: Object.fromEntries(named) }
      found.set(String(operation.operationId), whole)
    }
  }
  return found
}

/** Prints where two values differ. */
function printDifference(before: unknown, after: unknown, at: string): void {
  if (JSON.stringify(before) === JSON.stringify(after)) return
  if (!isObject(before) || !isObject(after)) {
    console.log(`  ${at}: ${JSON.stringify(before) ?? '–'} → ${JSON.stringify(after) ?? '–'}`)
    return
  }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
    printDifference(before[name], after[name], `${at}/${name}`)
}

/** Prints the operations that were added, removed or changed since a commit. */
export function printDifferences(commit: string): void {
  const before = operationsOf(documentAt(commit))
  const after = operationsOf(JSON.parse(readFileSync('openapi.json', 'utf8')))
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(id), after.get(id)]
    if (JSON.stringify(old) === JSON.stringify(now)) continue
    console.log(!old ? `+ ${id}` : now ? `~ ${id}` : `- ${id}`)
    if (old && now) printDifference(old, now, '')
  }
}
