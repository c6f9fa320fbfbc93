import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Plugin } from 'vitest/config'
import { exportsOf } from './syntax.ts'

// A mutant of module state takes effect once the modules load again. A test file has imported the
// first instances by then, so it imports through facades, which hunt.ts points to the new ones.

const QUERY = '?live'

/** Whether an id of Vite is that of a facade. */
export const isFacade = (id: string) => id.endsWith(QUERY)

/** Returns the facade of a module: it exports the same names, and can be pointed to a new instance. */
function facadeOf(file: string): string {
  const path = JSON.stringify(file)
  const names = exportsOf(readFileSync(file, 'utf8'), file.endsWith('.tsx') ? 'tsx' : 'ts')
  const members = names.map((name, i) => `${name}: export${i}`).join(', ')
  const exports = names.map((name, i) => `export${i} as ${name}`).join(', ')
  return `
    import * as first from ${path}
    let { ${members} } = first
    export { ${exports} }
    const reload = async () => { ({ ${members} } = await import(${path})) }
    ;(globalThis.__reloadImports__ ??= []).push(reload)`
}

/** Replaces what test files import from `src` by facades. */
export function liveImports(): Plugin {
  const tests = `${resolve('test')}/`
  const sources = `${resolve('src')}/`
  return {
    name: 'live-imports',
    enforce: 'pre',
    resolveId(path, importer) {
      if (!path.startsWith('.') || !importer?.startsWith(tests)) return null
      const file = resolve(dirname(importer), path)
      return file.startsWith(sources) ? file + QUERY : null
    },
    load: (id) => (isFacade(id) ? facadeOf(id.slice(0, -QUERY.length)) : null),
  }
}
