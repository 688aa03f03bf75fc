// What all simulations of a process share: the database, and a history of its own that triggers keep there, so that the
// checks need not believe the code they check.
import { randomBytes } from 'node:crypto'
import { openDatabase, type Database } from '../../src/platform/db/database.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { openSecrets, type Secrets } from '../../src/platform/secrets/secrets.ts'

export type Proof = {
  db: Database
  secrets: Secrets
  organization_id: string
  close(): Promise<void>
}

export type Connection = { host: string; port: number; user: string; database: string }

export async function openProof(connection: Connection): Promise<Proof> {
  const db = openDatabase({
    ...connection,
    max: 60,
    // Whoever has to wait for a lock would wait for somebody who waits at the turnstile.
    options: '-c lock_timeout=1ms -c synchronous_commit=off -c jit=off -c plan_cache_mode=force_generic_plan',
  })
  await db.pool.query(HISTORY)
  const organization_id = '00000000-0000-4000-8000-000000000000'
  const now = new Date()
  await db.run(sql`
    INSERT INTO organization (id, name, slug, created_at, updated_at)
    VALUES (${organization_id}, 'Proof', 'proof', ${now}, ${now}) ON CONFLICT DO NOTHING`)
  return {
    db,
    secrets: openSecrets(randomBytes(32).toString('hex'), null),
    organization_id,
    close: () => db.close(),
  }
}

/** Changes of exports and new runs, in the order in which they happened. */
const HISTORY = `
  CREATE TABLE IF NOT EXISTS prove_history (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, project_id integer NOT NULL, batch_export_id uuid NOT NULL,
    run_id uuid, paused boolean, interval text, next_due_at timestamptz, at timestamptz NOT NULL);
  CREATE INDEX IF NOT EXISTS prove_history_project ON prove_history (project_id);
  CREATE OR REPLACE FUNCTION prove_export() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO prove_history (project_id, batch_export_id, paused, interval, next_due_at, at)
    VALUES (NEW.project_id, NEW.id, NEW.paused, NEW.interval, NEW.next_due_at, NEW.last_updated_at);
    RETURN NULL; END $$;
  CREATE OR REPLACE FUNCTION prove_run() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO prove_history (project_id, batch_export_id, run_id, at)
    VALUES (NEW.project_id, NEW.batch_export_id, NEW.id, NEW.created_at);
    RETURN NULL; END $$;
  CREATE OR REPLACE TRIGGER prove_export AFTER UPDATE ON batch_export FOR EACH ROW
    WHEN (OLD.paused <> NEW.paused OR OLD.interval <> NEW.interval) EXECUTE FUNCTION prove_export();
  CREATE OR REPLACE TRIGGER prove_new_export AFTER INSERT ON batch_export FOR EACH ROW
    EXECUTE FUNCTION prove_export();
  CREATE OR REPLACE TRIGGER prove_run AFTER INSERT ON batch_export_run FOR EACH ROW EXECUTE FUNCTION prove_run();`
