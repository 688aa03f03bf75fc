-- What scripts and PostHog's Terraform provider set for a project. Null: nobody has said.
ALTER TABLE project
  ADD COLUMN autocapture_exceptions_opt_in boolean,
  ADD COLUMN autocapture_web_vitals_opt_in boolean,
  ADD COLUMN heatmaps_opt_in boolean,
  ADD COLUMN session_recording_opt_in boolean NOT NULL DEFAULT false,
  ADD COLUMN surveys_opt_in boolean,
  ADD COLUMN cookieless_server_hash_mode integer,
  ADD COLUMN recording_domains jsonb;
