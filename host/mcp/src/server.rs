//! What a client may ask, and who answers.

// The newest revision of the protocol drops logging, and older clients have it.
#![expect(deprecated)]

use crate::answers::{prompt, resource, section_id, text_of, tool};
use crate::call::run;
use crate::changes;
use crate::served::Served;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, GetPromptRequestParams, GetPromptResponse,
    Implementation, ListPromptsResult, ListResourcesResult, ListToolsResult, LoggingLevel,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourceContents, ServerCapabilities, ServerConfig, SetLevelRequestParams,
    SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use sectile_prompt::SampleId;
use sectile_session::{InMemoryConversation, ToolScope, new_session_id};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::task::JoinSet;

/// The revisions that are spoken.
const REVISIONS: [ProtocolVersion; 4] = [
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];
/// The one prompt.
pub(crate) const CONTEXT: &str = "context";

/// The server for one client, or for one request of a client without a session.
pub(crate) struct Server {
    pub(crate) served: Arc<Served>,
    /// What the client's session has seen; older revisions only.
    scope: OnceLock<Arc<ToolScope>>,
    /// What the client wants to hear of; older revisions only.
    level: Mutex<LoggingLevel>,
    /// What goes on beside the client's requests, and ends with the client.
    beside: Mutex<JoinSet<()>>,
}

impl Server {
    pub(crate) fn new(served: Arc<Served>) -> Self {
        Self {
            served,
            scope: OnceLock::new(),
            level: Mutex::new(LoggingLevel::Warning),
            beside: Mutex::default(),
        }
    }

    /// Whose this request's calls are: the session's, or those of everybody
    /// who has none.
    pub(crate) fn scope(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<ToolScope>, ErrorData> {
        if is_modern(context) {
            return Ok(self.served.scope());
        }
        if let Some(scope) = self.scope.get() {
            return Ok(Arc::clone(scope));
        }
        let name = new_session_id().map_err(|e| ErrorData::internal_error(e.to_string(), None))?;
        let scope = || Arc::new(ToolScope::named(name));
        Ok(Arc::clone(self.scope.get_or_init(scope)))
    }

    /// From which level on this request's client wants to be told; `None` when
    /// it did not say that it does.
    pub(crate) fn level(&self, context: &RequestContext<RoleServer>) -> Option<LoggingLevel> {
        match (context.meta.log_level(), is_modern(context)) {
            (Some(level), _) => Some(level),
            (None, true) => None,
            (None, false) => Some(*self.level.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

/// Whether the request is of the revision that has no sessions.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_prompts()
            .enable_logging()
            .build();
        let program = Implementation::new("sectile", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(program)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Owned(REVISIONS.to_vec())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let lists = self.served.lists();
        let mut beside = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
        beside.spawn(changes::tell(lists, context.peer));
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        accepted.resource_subscriptions = None;
        Some(accepted)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        changes::answer(self.served.lists(), subscription).await;
        Ok(())
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = request.level;
        Ok(())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.served.host().plugin_tools().map(tool).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        run(self, request, context)
            .await
            .map(CallToolResponse::from)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let sections = self.served.host().sections().iter().map(resource).collect();
        Ok(ListResourcesResult::with_all_items(sections))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let host = self.served.host();
        let mut ids = host
            .sections()
            .iter()
            .map(|section| section.spec.id().to_string());
        let asked = section_id(&request.uri);
        let Some(id) = ids.find(|id| Some(id.as_str()) == asked) else {
            let uri = Some(serde_json::json!({"uri": request.uri}));
            return Err(ErrorData::resource_not_found(
                "there is no such section",
                uri,
            ));
        };
        let text = self.served.apart(move |host| {
            let rendered = host.render(&id, None)?;
            let body = rendered.body.map_err(|e| e.of(&rendered.section))?;
            let wrapped = body.map(|body| host.wrap(&rendered.section.spec, &body));
            Ok(wrapped.transpose()?.unwrap_or_default())
        });
        let contents = vec![ResourceContents::text(text.await?, request.uri)];
        Ok(ReadResourceResult::new(contents).into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(vec![prompt()]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != CONTEXT {
            return Err(ErrorData::invalid_params("the prompt is `context`", None));
        }
        let mut arguments = request.arguments.unwrap_or_default();
        let message = match arguments.remove("message") {
            None => None,
            Some(Value::String(text)) => Some(text),
            Some(_) => return Err(ErrorData::invalid_params("`message` is a text", None)),
        };
        let composed = self.served.apart(move |host| {
            let id = SampleId::preview();
            let mut conversation = InMemoryConversation::default();
            host.compose(&mut conversation, message.as_deref(), &id)
        });
        Ok(text_of(&composed.await?.call.request).into())
    }
}
