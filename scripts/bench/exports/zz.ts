import { openInstance } from '../../../src/platform/event-store/duckdb/database.ts'
const folder = process.argv[2]!
const instance = await openInstance({ folder: folder + '/events', memory_mb: 1024, threads: 2 })
const c = await instance.connect()
for (let i = 1; i <= 2; i++) {
const t = performance.now(), cpu = process.cpuUsage()
await c.run(`INSERT INTO ev_1 SELECT seq + ${i * 100_000}, (SELECT max(inserted_at) FROM ev_1), CAST(concat(left(CAST(uuid AS VARCHAR), 24), right(md5(concat(uuid, ${i})), 12)) AS UUID), COLUMNS(* EXCLUDE (seq, inserted_at, uuid)) FROM ev_1 WHERE seq <= 100000 ORDER BY seq`)
console.log((performance.now() - t) / 1000, process.cpuUsage(cpu))
}
let t = performance.now(), cpu = process.cpuUsage()
await c.run('CHECKPOINT')
console.log('checkpoint', (performance.now() - t) / 1000, process.cpuUsage(cpu))
console.log(await (await c.run('SELECT count(*), min(seq), max(seq), min(timestamp), max(timestamp), count(distinct uuid), count(distinct seq) from ev_1')).getRowsJson())
console.log((await (await c.run("select column_name, compression, count(*) from pragma_storage_info('ev_1') group by all having column_name in ('properties','person_properties','uuid')")).getRowsJson()))
instance.closeSync()
