import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { binaries } from './postgres.ts'

/** Describes the machine and the versions of the runtimes. */
export function machine(): string {
  const { model = 'unknown processor' } = cpus()[0] ?? {}
  const { version } = JSON.parse(readFileSync('node_modules/workerd/package.json', 'utf8'))
  const bin = binaries()
  const postgres = bin && execFileSync(`${bin}/postgres`, ['--version'], { encoding: 'utf8' })
  return [
    `${cpus().length} × ${model.trim()}`,
    `${Math.round(totalmem() / 2 ** 30)} GiB`,
    `Node ${process.version}`,
    `workerd ${version}`,
    ...(postgres ? [postgres.trim().replace(/^postgres \((.+)\) ([\d.]+).*$/, '$1 $2')] : []),
  ].join(', ')
}
