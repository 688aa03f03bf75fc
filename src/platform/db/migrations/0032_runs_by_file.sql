-- Which runs have named a file is asked before a run that is done again removes it: of all exports, whatever their number.
CREATE INDEX batch_export_run_published ON batch_export_run USING gin (published) WHERE published IS NOT NULL;
