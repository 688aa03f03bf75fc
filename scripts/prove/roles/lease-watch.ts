// Triggers that tell of two workers at one run: whoever touches a run while another's lease on it holds. They go by the names
// of the connections, so that nobody needs to believe the code that is checked.
import type { Database } from '../../../src/platform/db/database.ts'
import { sql } from '../../../src/platform/db/sql.ts'

export async function watchLeases(db: Database): Promise<void> {
  await db.pool.query(`
    CREATE TABLE prove_holder (run_id uuid PRIMARY KEY, name text NOT NULL);
    CREATE TABLE prove_intrusion (run_id uuid NOT NULL, holder text NOT NULL, other text NOT NULL);
    CREATE FUNCTION prove_lease() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE holder_name text; own_name text := current_setting('application_name');
    BEGIN
      SELECT name INTO holder_name FROM prove_holder WHERE run_id = NEW.id;
      IF OLD.lease_owner IS NOT NULL AND OLD.lease_until > clock_timestamp() AND holder_name <> own_name THEN
        INSERT INTO prove_intrusion VALUES (NEW.id, holder_name, own_name);
      END IF;
      IF NEW.lease_owner IS NOT NULL AND NEW.lease_owner IS DISTINCT FROM OLD.lease_owner THEN
        INSERT INTO prove_holder VALUES (NEW.id, own_name) ON CONFLICT (run_id) DO UPDATE SET name = own_name;
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER prove_lease AFTER UPDATE ON batch_export_run FOR EACH ROW EXECUTE FUNCTION prove_lease();`)
}

export async function listIntrusions(db: Database): Promise<string[]> {
  const rows = await db.rows<{ run_id: string; holder: string; other: string }>(
    sql`DELETE FROM prove_intrusion RETURNING run_id, holder, other`,
  )
  return rows.map(({ run_id, holder, other }) => `${other} has touched run ${run_id}, which was ${holder}'s`)
}

/** Who has worked on runs: one name alone would prove little. */
export async function listHolders(db: Database): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`SELECT DISTINCT name FROM prove_holder ORDER BY name`)
  return rows.map(({ name }) => name)
}
