import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildOnce } from './service.ts'

// Runs once before all files of `npm test`.

export const globalSetup = async () => {
  // Tests start the same programs many times: Node compiles each once.
  compiled = mkdtempSync(join(tmpdir(), 'tributary-compiled-'))
  process.env.NODE_COMPILE_CACHE ??= compiled
  deleteCopy = await buildOnce()
}
export const globalTeardown = () => {
  deleteCopy()
  rmSync(compiled, { recursive: true, force: true })
}

let compiled = ''
let deleteCopy = () => {}
