import { readFileSync, writeFileSync } from 'node:fs'
import { inspectorOf } from '../bench/inspector.ts'
import { type Service, WORKER } from './service.ts'

const MIB = 1024 * 1024

/** Bytes as MiB. */
export const mib = (bytes: number) => `${(bytes / MIB).toFixed(1)} MiB`

/** What a process holds of the machine's memory now, and held at most; bytes. */
export function residentOf(pid: number): { now: number; most: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const of = (name: string) => Number(new RegExp(`${name}:\\s*(\\d+) kB`).exec(status)?.[1]) * 1024
  return { now: of('VmRSS'), most: of('VmHWM') }
}

/** Forgets how much a process held at most. @see proc_pid_clear_refs(5) */
export const forgetPeak = (pid: number) => writeFileSync(`/proc/${pid}/clear_refs`, '5')

/** What an isolate holds: what is used of V8's heap, and the buffers outside it; bytes. */
export interface Heap {
  used: number
  buffers: number
}

/** Asks the service's own isolate what it holds, by V8's inspector; it answers when it has a moment. */
export async function watchHeap({ miniflare }: Service) {
  const { ask, end } = await inspectorOf(await miniflare.getInspectorURL(), WORKER)
  const heap = async (): Promise<Heap> => {
    const { usedSize, backingStorageSize } = await ask<{
      usedSize: number
      backingStorageSize: number
    }>('Runtime.getHeapUsage')
    return { used: usedSize, buffers: backingStorageSize }
  }
  return {
    heap,
    /** What is left when all that nobody needs is gone: the inspector's own copies of the log, too. */
    async collected(): Promise<Heap> {
      for (const method of ['Runtime.discardConsoleEntries', 'HeapProfiler.collectGarbage']) {
        await ask(method)
      }
      return heap()
    },
    end,
  }
}
