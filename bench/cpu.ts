import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds a tick of /proc lasts: the kernel says 100 a second, whatever its own clock. */
const TICK_MS = 10

/** The processes that another one started, this one if none is said; none where there is no /proc. */
export function children(of: number = process.pid): Set<number> {
  try {
    const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
    return new Set(pids.filter((pid) => fieldsOf(pid)?.[1] === String(of)))
  } catch {
    return new Set()
  }
}

/**
 * User and system time of some processes in milliseconds, with that of their children which have
 * ended; null where nobody tells.
 */
export function cpuOf(pids: readonly number[]): number | null {
  const all = pids.map(fieldsOf).filter((fields) => fields !== null)
  const ticks = all.flatMap((fields) => fields.slice(11, 15).map(Number))
  return all.length === 0 ? null : ticks.reduce((sum, n) => sum + n, 0) * TICK_MS
}

/** @see proc_pid_stat(5): what follows the name, which may hold spaces; `state` comes first. */
function fieldsOf(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}
