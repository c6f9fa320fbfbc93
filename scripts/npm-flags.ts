import { existsSync, readFileSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'

// npm takes every option before a `--` for one of its own: `npm run push --vertical forex` runs the script
// with the argument `forex` alone, and sets npm_config_vertical=true.

/** The options of a script: each with the form of its value, or with null if it takes no value. */
export type KnownOptions = Readonly<Record<string, RegExp | null>>

/** Names that npm expands to something else, with the variable and value that they leave. */
const EXPANDED: Readonly<Record<string, readonly [variable: string, value?: string]>> = {
  map: ['npm_config_parseable', 'true'],
  to: ['npm_config_token_description'],
  verbose: ['npm_config_loglevel', 'verbose'],
}

/**
 * Ends the process with exit code 2 if npm consumed some of the options, and prints the command
 * line that passes them on. Scripts call it before they read their arguments.
 */
export function rejectSwallowedOptions(script: string, options: KnownOptions) {
  const { argv, env } = process
  const message =
    findSwallowedOptions(script, options, argv.slice(2), env) ??
    (env.npm_lifecycle_event === script ? findUnknownOptions(script, env, npmNames(env)) : null)
  if (message === null) return
  console.error(message)
  process.exit(2)
}

/** Returns a sentence with the right command line, or null if npm passed on every option. */
export function findSwallowedOptions(
  script: string,
  options: KnownOptions,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): string | null {
  // Variables of npm reach every process that a script starts; only the script itself is meant.
  if (env.npm_lifecycle_event !== script) return null
  const swallowed = Object.keys(options).filter((name) => isSwallowed(name, args, env))
  if (swallowed.length === 0) return null
  const words = [...args]
  const values = new Map<string, string>()
  for (const name of byFewestMatches(swallowed, options, words)) {
    const form = options[name]
    if (form) values.set(name, valueFromNpm(name, env) ?? takeLast(words, form) ?? 'VALUE')
  }
  const restored = swallowed.flatMap((name) => [`--${name}`, ...[values.get(name) ?? []].flat()])
  const names = swallowed.map((name) => `--${name}`).join(', ')
  const command = ['npm', 'run', script, '--', ...words, ...restored].map(quoted).join(' ')
  return `npm consumed ${names}. Put -- before the arguments of the script: ${command}`
}

/**
 * Returns a sentence about options that neither the script nor npm has, or null if there are none.
 * `isOfNpm` returns whether npm or its configuration files have an option.
 */
export function findUnknownOptions(
  script: string,
  env: NodeJS.ProcessEnv,
  isOfNpm: (name: string) => boolean,
): string | null {
  const names = Object.entries(env)
    .filter(([variable, value]) => variable.startsWith(PREFIX) && value === 'true')
    .map(([variable]) => variable.slice(PREFIX.length).replaceAll('_', '-'))
    .filter((name) => !isOfNpm(name))
  if (names.length === 0) return null
  const list = names.map((name) => `--${name}`).join(', ')
  return `npm consumed ${list}, which npm run ${script} does not have. npm run ${script} -- --help shows how to call it.`
}

/**
 * Returns a function that tells whether npm or its configuration files have an option. Without the
 * list of npm's options the function returns true for every name.
 */
function npmNames(env: NodeJS.ProcessEnv): (name: string) => boolean {
  const { npm_execpath, npm_config_userconfig, npm_config_globalconfig } = env
  const files = [npm_config_userconfig, npm_config_globalconfig, join(process.cwd(), '.npmrc')]
  const configured = files
    .filter((file) => file !== undefined && existsSync(file))
    .map((file) => readFileSync(file!, 'utf8'))
    .flatMap((text) => [...text.matchAll(/^\s*([\w-]+)\s*(?:=|$)/gm)].map(([, name]) => name))
  try {
    const { definitions } = module.createRequire(npm_execpath!)(
      '@npmcli/config/lib/definitions/index.js',
    )
    return (name) => Object.hasOwn(definitions, name) || configured.includes(name)
  } catch {
    return () => true
  }
}

function isSwallowed(name: string, args: readonly string[], env: NodeJS.ProcessEnv): boolean {
  if (args.some((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`))) return false
  const [variable, value] = EXPANDED[name] ?? []
  if (variable && (value === undefined ? env[variable] : env[variable] === value)) return true
  // npm reads `--no-docs` as the negation of `--docs`.
  if (name.startsWith('no-')) return env[variableOf(name.slice(3))] === ''
  return Boolean(env[variableOf(name)])
}

const PREFIX = 'npm_config_'

const variableOf = (name: string) => `${PREFIX}${name.replaceAll('-', '_')}`

/** Returns the value of `--name=value`; npm leaves `true` for an option whose value is a word. */
function valueFromNpm(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const [variable = variableOf(name), fixed] = EXPANDED[name] ?? []
  const value = env[variable]
  return value === 'true' || value === fixed ? undefined : value?.split('\n\n').at(-1)
}

/** Sorts names so that those whose value fits few words choose first, later names before earlier. */
function byFewestMatches(names: string[], options: KnownOptions, words: readonly string[]) {
  const matches = (name: string) => words.filter((word) => options[name]?.test(word)).length
  return names.toReversed().sort((a, b) => matches(a) - matches(b))
}

/** Removes the last word that has the form and returns it. */
function takeLast(words: string[], form: RegExp): string | undefined {
  const at = words.findLastIndex((word) => form.test(word))
  return at < 0 ? undefined : words.splice(at, 1)[0]
}

const quoted = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
